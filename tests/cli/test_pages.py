import io
import re
from datetime import datetime

import pytest

from evimem.cli.page import (
    BLANK,
    Heading,
    Piece,
    Progress,
    Screen,
    make_field,
    make_line,
    make_table,
    render_text,
    write_note,
)
from evimem.cli.views import answer_page, fields_page, trace_page
from evimem.types.results import Answer, Citation, Usage
from evimem.types.trace import Acted, Called, Found, GapsChanged, Judged, Queried, Stopped, Trace
from evimem.types.values import Gap, Tier, Turn

PAGE = [
    Heading("A title"),
    make_line("plain ", Piece("strong", "strong"), " and ", Piece("marked", "mark"), indent=2),
    make_field("label", "some words that go on until they need a second line", indent=2),
    make_table(("name", "n"), [("tea", 3), ("plum jam", 12)], right=("n",), title="Things"),
    BLANK,
]


def test_a_page_as_plain_text():
    assert render_text(PAGE, 40) == (
        "A title\n"
        "-------\n"
        "  plain strong and \u00abmarked\u00bb\n"
        "  label     some words that go on until\n"
        "            they need a second line\n"
        "Things\n"
        "name       n\n"
        "--------  --\n"
        "tea        3\n"
        "plum jam  12\n"
        "\n"
    )


def test_a_page_in_colour_has_the_same_lines(monkeypatch):
    plain, coloured = render_text(PAGE, 40), render_text(PAGE, 40, coloured=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == re.sub("[\u00ab\u00bb]", "", plain)
    assert "\x1b[1mstrong\x1b[0m and \x1b[30;103mmarked\x1b[0m" in coloured
    assert (
        render_text([make_line("one two three ", Piece("four", "bad"))], 20, coloured=True).count(
            "\x1b[1;31mfour\x1b[0m"
        )
        == 1
    )


@pytest.mark.parametrize(("told", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colours_unless_it_is_told_not_to(monkeypatch, told, coloured):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    for stream, wanted in ((Terminal(), coloured), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stdout", stream)
        Screen().print_page(PAGE)
        assert stream.getvalue() == render_text(PAGE, 100, coloured=wanted)
    Screen(coloured=False).print_page([BLANK])


TURN = Turn("s1:4", "s1", "Mira", "Hi. We adopted a puppy last Friday. More.", datetime(2024, 3, 12, 18, 20), "a puppy")


def answer(text, citations=(), **fields):
    parts = {
        "kind": "abstained" if text is None else "answer", "tier": Tier.EXACT, "confidence": 0.93, "gaps": (),
    } | fields  # fmt: skip
    return Answer(text=text, citations=tuple(citations), trace=Trace("q", "iris"), usage=Usage(), **parts)


def test_a_citation_marks_what_it_cites():
    page = answer_page("When?", answer("8 March 2024", [Citation("s1:4", (4, 35), TURN.text[4:35])]), {"s1:4": TURN})
    shown = render_text(page)
    assert "8 March 2024  exact, 93%" in shown
    assert "s1:4 Mira, 12 March 2024" in shown
    assert "\u201cHi. \u00abWe adopted a puppy last Friday.\u00bb More.\u201d" in shown


def test_a_failure_is_not_shown_as_an_abstention():
    page = answer_page("What?", answer(None, kind="failed", reason="ModelTimeout: too late"), {})
    shown = render_text(page)
    assert "Not finished." in shown
    assert "I don't know" not in shown


def test_a_quotation_claims_nothing_and_shows_what_was_said():
    quoted = answer('Mira, 12 March 2024: "a puppy"', [Citation("s1:4", (4, 35), TURN.text[4:35])], kind="quote")
    shown = render_text(answer_page("When?", quoted, {"s1:4": TURN}))
    assert "To read, best first:  exact, 93%" in shown
    assert 'Mira, 12 March 2024: "a puppy"' in shown


def test_every_kind_of_event_of_a_trace_is_shown():
    gap = Gap("time", "", "no date")
    events = (
        Acted(0, "analyse", "", {"entities": ["Mira"], "wants": "time", "budget": {"k": 10, "without": ["tiers"]}}),
        Queried(1, "anchor", "When?", 10, "dates"),
        Found(1, "anchor", tuple(f"t{number}" for number in range(9)), ("f1",)),
        GapsChanged(1, {"time": ("t1",)}, {"reason": "too vague"}, {"place": "no witness"}, ("more",), (gap,)),
        Judged(1, "llm", Tier.EXACT, 0.9, Tier.PARTIAL, 0.6, 0.71, {"Mira": 3}, (gap,), "vague"),
        Called(1, "judge", "ok", 1200, 30, 1.5, repairs=1, retries=2, cost=0.0021),
        Acted(1, "measure", "", {f"s{n}": n / 10 for n in range(1, 13)}),
        Stopped(1, "exact evidence"),
        Acted(1, "fail", "ModelTimeout: late"),
    )
    shown = render_text(trace_page(Trace("When?", "iris", events)), 250)
    said = (
        "analyse  entities=(Mira)  wants=time  budget=(k 10, without tiers)|searching (anchor): When?  k=10  "
        "strategy=dates|turns=(t0, t1, t2, t3, t4, t5 and 3 more)|supported: time; missing: no date|"
        "waived=(reason too vague)|judged partial, probability 0.71; missing: no date|reason=vague|"
        "asked the model (judge): ok  input_tokens=1200|s8=0.80  and 4 more|stopped: exact evidence|"
        "fail: ModelTimeout: late|1 request, 1,200 + 30 tokens, $0.0021"
    )
    assert [part for part in said.split("|") if part not in shown] == []


def test_signals_of_the_offline_judge_are_shown_in_words():
    trace = Trace("When?", "iris", (Acted(1, "measure", "", {"fall": 0.53, "spread": 0.03}),))
    assert "best score above the tenth=0.53  scores near the best=0.03" in render_text(trace_page(trace), 250)


def test_any_result_is_shown_as_its_fields():
    data = {"turns": 1200, "path": "m", "speakers": ["Mira", "Tomas"], "edges": {"next": 3}, "reason": None, "ece": 0.1}
    problems = [f"turn {number} is not what was stored: restore a backup" for number in range(12)]
    assert render_text(fields_page("m  ok", {**data, "problems": problems}, "path")).splitlines()[:5] == [
        "m  ok", "  turns     1,200", "  speakers  Mira, Tomas", "  edges     next 3", "  ece       0.100",
    ]  # fmt: skip
    assert render_text(fields_page("m", {"problems": problems})).splitlines()[-1] == "  and 2 more problems"


def test_json_output_refuses_a_number_that_is_not_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        Screen(as_json=True).print_page_or_json([], float("nan"))


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def worked(stream, total=None, seconds=0.5):
    clock = Clock()
    with Progress(stream, "reading", "turns", total, clock) as progress:
        for _ in range(4):
            clock.now += seconds
            progress(250)
    return stream.getvalue()


def test_a_log_gets_a_few_lines_and_no_control_characters():
    logged = worked(io.StringIO(), 1000, seconds=10)
    assert logged == (
        "reading [############............]  50%  500 turns, 25/s, 20 s left\n"
        "reading [########################] 100%  1,000 turns, 25/s, 0 s left\n"
        "reading [########################] 100%  1,000 turns, 25/s, 0 s left\n"
    )


def test_a_long_note_is_wrapped_on_a_terminal_and_whole_for_a_program(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    note = "evimem: the file cannot be read as an export of this kind; expected a folder: " + "/place" * 10
    stream, terminal = io.StringIO(), Terminal()
    write_note(stream, note)
    write_note(terminal, note)
    assert stream.getvalue() == f"{note}\n"
    rows = terminal.getvalue().splitlines()
    assert all(len(row) <= 40 for row in rows[:-1]), "a place is never cut"
    assert " ".join(row.strip() for row in rows) == note
