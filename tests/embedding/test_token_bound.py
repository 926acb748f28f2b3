"""The bound on tokens: beside what cl100k, o200k, Llama 3's and Qwen's tokenizers really make of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.embedding.token_bound import token_bound


@pytest.mark.parametrize(
    ("text", "dearest"),  # the largest of the four counts
    [
        ("We adopted a puppy last Friday, a lurcher cross called Juno.", 16),
        ("Tidewell Seafoods, Grimsby: 1,650 by card on 2024-03-12T18:20", 37),
        ("https://files.example/a.jpg?X-Signature=0af3bc9d8e7f6a5b4c3d2e1f&X-Date=20240312T182000Z", 55),
        ("impressivewar rskrentsguineas fagsozeiemwuiqgmcispspku", 26),
        ("สวัสดีครับ วันนี้อากาศดีมาก", 26),
        ("私たちは金曜日に子犬を引き取りました。", 19),
        ("Мы взяли щенка в прошлую пятницу.", 21),
        ("हमने पिछले शुक्रवार को एक पिल्ला गोद लिया", 39),
        ("🎉🐶👩\u200d👩\u200d👧 ✨", 21),
        ("Wir haben Frühstück in Köln gegessen, natürlich.", 14),
        ("뤼솂쵌찃뼻묺저솣듥", 22),
        ("def f(x):\n    return {k: v for k, v in x.items()}\n", 18),
        ("QWxhZGRpbjpvcGVuIHNlc2FtZQ==", 20),
    ],
)
def test_no_common_tokenizer_makes_more_tokens_of_a_text(text, dearest):
    assert dearest <= token_bound(text) <= 2.6 * dearest


def test_english_prose_is_counted_nearly_as_it_is():
    prose = "We went to the market on Saturday and bought apples, bread and a small lamp for the kitchen. " * 20
    assert 401 <= token_bound(prose) <= 1.1 * 401  # 401 tokens by each of the four


@given(one=st.text(max_size=40), other=st.text(max_size=40))
def test_more_text_is_never_fewer_tokens(one, other):
    assert token_bound("") == 0
    assert token_bound(f"{one}\n{other}") >= token_bound(one)
