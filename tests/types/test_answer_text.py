"""An answer printed, and shown in a notebook: what was said is text there, never markup."""

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

import evimem
from evimem import Answer, Citation, Gap, Tier, Usage
from evimem.types.trace import Trace

HOSTILE = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["<script>alert(1)</script>", "</b><img src=x onerror=y>", "\"'><a href=x>", "&lt;b&gt;", "<!--"]),
)
ALLOWED = {"div", "p", "b", "small", "ul", "li", "code"}


class Reader(HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs, "an element needs no attribute here"
        self.elements.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


def answer(text: str | None, quote: str, gap: str, reason: str | None) -> Answer:
    cited = (Citation(quote or "t", (0, len(quote)), quote),)
    gaps = (Gap("attribute", "x", gap),)
    kind = "answer" if text else "abstained"
    return Answer(text, kind, Tier.EXACT, 0.912, cited, gaps, Trace("?", "iris"), Usage(), None, reason)


@settings(max_examples=60)
@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_no_text_becomes_an_element_of_the_page(text, quote, gap, reason):
    page = Reader()
    page.feed(answer(text, quote, gap, reason)._repr_html_())
    page.close()
    assert page.elements <= ALLOWED
    assert page.open == []
    same = page.text.replace("\r\n", "\n").replace("\r", "\n")
    for said in (text, quote, gap, reason):
        assert said.replace("\r\n", "\n").replace("\r", "\n") in same


def test_an_answer_prints_its_text_and_what_it_rests_on(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", id="a")
        given_, refused = memory.ask("When did Mira adopt a puppy?"), memory.ask("When did Tomas adopt a puppy?")
    assert str(given_) == "8 March 2024\n  [a] last Friday"
    assert str(refused).startswith("no answer: the evidence is about Mira")
    assert "<b>8 March 2024</b>" in given_._repr_html_()
    assert f"answer, {given_.tier.value}, confidence" in given_._repr_html_()
