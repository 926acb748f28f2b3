"""WordPiece against the samples of the artifact and against the `tokenizers` library, token for token."""

import json
import time
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from evimem.embedding import static_embedder
from evimem.embedding.static_embedder import SHIPPED, WordPiece, count_tokens

SAMPLES = json.loads(Path(__file__).with_name("samples.json").read_text(encoding="utf-8"))
OURS = WordPiece.load(SHIPPED.with_name("vocabulary.txt"))
APART = ("M", "C", "P")  # general categories that a tokenizer treats apart: marks, controls, punctuation

NASTY = [
    "", " \t\r\n\v\f\u00a0\u2003\u2028\u3000", "Hello,world!!It's 5:30p.m.—isn't it?", "ΟΔΥΣΣΕΥΣ ΣΑΣ σας",
    "İstanbul \u0131ss\u0131z STRASSE straße ǅ", "e\u0301 \u0301alone a\u0301\u0323b \u1e9b\u0323",
    "naïve façade Ångström Ṩ ﬁne ﬃ ½ ² Ⅷ", "한국어 각각 \u1100\u1161\u11a8", "東京2024年に行った。「はい」テスト",
    "\u2f800\U0002f800 \uf900x", "a\u200bb\u200dc\u00add\ufefff\ufffdg\x00h\x7fi\x0bj",
    "\u037e \u1fef \u0387 \u2000x", "👩🏽‍🚀🏴󠁧󠁢󠁥󠁮󠁧󠁿 ok👍🏻done ❤️", "## ##ing [UNK] [PAD] [CLS] ￼",
    "$5.00 + 3^2 = `x` ~ <b>|</b> a_b #tag @user", "x" * 99 + " " + "x" * 100 + " " + "x" * 101,
    "é" * 100 + " " + "e\u0301" * 101, "\u05d0\u05b0\u05d1 \u0627\u064e\u0644 हिन्दी ไทย",
    "\u1734 \u166d \U00011938 \u0378 \ue000",
]  # fmt: skip


@cache
def reference() -> Tokenizer:
    vocabulary = {piece: number for number, piece in enumerate(OURS.pieces(range(len(OURS))))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@cache
def is_settled(char: str) -> bool:
    """Whether Unicode 3.2 classed a character as today's does: the reference has older tables than Python."""
    now, then = unicodedata.category(char), unicodedata.ucd_3_2_0.category(char)
    return now == then or (now[0] not in APART and then[0] not in ("M", "P"))


def settled(text: str) -> str:
    return "".join(filter(is_settled, text))


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["text"] for sample in SAMPLES])
def test_the_samples_of_the_artifact_come_out_as_written(sample):
    assert OURS.tokens(sample["text"]) == sample["tokens"]
    assert OURS.ids(sample["text"]) == sample["ids"]


@pytest.mark.parametrize("text", NASTY)
def test_nasty_texts_come_out_as_the_reference_has_them(text):
    assert OURS.ids(settled(text)) == reference().encode(settled(text)).ids


def test_every_character_of_the_basic_plane_comes_out_as_the_reference_has_it():
    chars = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000 and is_settled(chr(code))]
    texts = [f"a{char}b{char} {char}c" for char in chars]
    ours = [OURS.tokens(text) for text in texts]
    assert ours == [encoding.tokens for encoding in reference().encode_batch(texts)]
    assert len(chars) > 60_000


words = st.sampled_from([*OURS.pieces(range(2, len(OURS), 97)), "ing", "UN", "s'", "日本", "É", "́", "ß", "Σ", "\u200d"])


@given(st.text() | st.text(st.characters(max_codepoint=0x2FF)) | st.lists(words).map("".join))
@example("\u0130\u03a3\u03a3.")
def test_any_text_comes_out_as_the_reference_has_it(text):
    assert OURS.tokens(settled(text)) == reference().encode(settled(text)).tokens


def test_what_is_remembered_stays_bounded_and_changes_nothing(monkeypatch):
    text = " ".join(f"word{number} shared {'x' * 200} {chr(0x3B1 + number)}" for number in range(50))
    expected = OURS.ids(text)
    monkeypatch.setattr(static_embedder, "_WORDS_KEPT", 8)
    monkeypatch.setattr(static_embedder, "_FOLDS_KEPT", 8)
    monkeypatch.setattr(static_embedder, "_FOLDED", static_embedder._Folded())
    small = WordPiece(OURS.pieces(range(len(OURS))))
    assert small.ids(text) == expected
    assert len(small._known) <= 8
    assert len(static_embedder._FOLDED) <= 8


def test_long_texts_take_time_in_proportion():
    hostile = ["ab " * (1 << 18), "a" * (1 << 20), "," * (1 << 18), "\u0301" * (1 << 19), ("z" * 99 + " ") * 10_000]
    began = time.process_time()
    assert [count_tokens(text) > 0 for text in hostile] == [True, True, True, False, True]
    assert time.process_time() - began < 20
