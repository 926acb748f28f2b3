"""What is read of a model's replies: drafts, verdicts, decisions, keywords, rounds of reading, moves of exploring."""

import json
from dataclasses import replace
from typing import Any

import pytest

from evimem.errors import ReplyError
from evimem.judging.judge import MAX_LISTED_KEYWORDS, TOOLS, Explored, Move, Result, Round, Row, ToolCall
from evimem.judging.tracker import Support, apply
from evimem.llm.evidence_prompt import show_evidence
from evimem.llm.read_verdict import (
    CALLED_VERDICT,
    MAX_REQUIREMENTS,
    choose_request,
    consider_request,
    explore_request,
    read_choice,
    read_considered,
    read_decision,
    read_draft,
    read_move,
    read_verdict,
    tool_specs,
)
from evimem.llm.request import load
from evimem.text.prompt_text import find_quote
from evimem.types.results import Citation
from evimem.types.stored import Keyword
from evimem.types.trace import Reply, ToolUse
from evimem.types.values import Gap, Tier
from tests.llm.views import page, turn, view_of

CANARY = "Zanzibarquince"
SAID = turn(1, "We adopted a  puppy, Biscuit, last\nFriday.", caption="a brown puppy on a sofa")
PAGE = page(SAID, turn(2, "Last Friday it was."))
VIEW = view_of(PAGE.turns, question=f"What of {CANARY}?", requirements=("what", "when"))
GAP = {"kind": "time", "about": "Mira", "text": "no date"}
VERDICT: dict[str, Any] = {"tier": "exact", "confidence": 0.9, "gaps": [GAP], "reason": "the date is given"}
# Of each kind of reply one that is read, and how.
REPLIES: dict[str, tuple[dict[str, Any], Any]] = {
    "draft": ({"steps": [], "answer": "8 March 2024", "citations": []}, lambda text: read_draft(text, PAGE)),
    "verdict": (
        {**VERDICT, "requirements": [], "next_query": "Mira\n puppy\tMay 2023 "},
        lambda text: read_verdict(text, VIEW, PAGE),
    ),
    "decision": (
        {**VERDICT, "requirements": [], "action": "retrieve", "query": "last Friday", "draft": "in March"},
        lambda text: read_decision(text, VIEW, PAGE),
    ),
    "round": (
        {**VERDICT, "critical": ["e2", "E1", "e9"], "answer": "Biscuit", "accepted": True},
        lambda text: read_considered(text, VIEW, PAGE),
    ),
    "move": (
        {
            **VERDICT, "calls": [{"tool": "Events-Between", "of": "2024-03", "part": "2024-04", "page": 2}],
            "answer": "in March", "supports": ["e1", "e9", "t1"],
        },
        lambda text: read_move(Reply(text), VIEW, PAGE),
    ),
}  # fmt: skip


def read(kind: str, **fields: Any) -> Any:
    said, reading = REPLIES[kind]
    return reading(json.dumps({**said, **fields}))


def quoted(quote: str) -> Citation:
    return read("draft", citations=[{"id": "e1", "quote": quote}]).citations[0]


def supports(**fields: Any) -> list[dict[str, Any]]:
    return [{"id": "r1", "status": "supported", "evidence": ["e1"], "why": "", **fields}]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *(("draft", {"answer": answer}) for answer in (None, True, [], {})),
        *((kind, {"tier": tier}) for kind in ("verdict", "decision", "round", "move") for tier in ("so so", None)),
        *((kind, {"confidence": "high"}) for kind in ("verdict", "decision", "round", "move")),
        *(("verdict", {"confidence": number}) for number in (None, -1)),
        *(("decision", {"action": action}) for action in ("dance", None)),
        ("round", {"accepted": None}), ("move", {"calls": [{"tool": "delete"}]}), ("move", {"calls": [7]}),
    ],
)  # fmt: skip
def test_what_a_reply_must_say_is_never_guessed(kind, wrong):
    with pytest.raises(ReplyError, match=next(iter(wrong)).removesuffix("s")):
        read(kind, **wrong)


def test_a_verdict_in_labelled_lines_is_no_reply():
    with pytest.raises(ReplyError, match="tier"):
        read_verdict("EXACT: yes\nCONFIDENCE: 0.5", VIEW, PAGE)


def test_an_answer_comes_with_its_steps():
    draft = read("draft", steps=["e1 says Friday", "", "that was the 8th"])
    assert (draft.text, draft.steps) == ("8 March 2024", ("e1 says Friday", "that was the 8th"))


@pytest.mark.parametrize("quote", ["last Friday", "LAST FRIDAY", '"last\n Friday."', "…last Friday!"])
def test_a_quote_is_found_whatever_its_spaces_case_and_marks(quote):
    citation = quoted(quote)
    assert citation.turn_id == "t1"
    assert SAID.text[slice(*citation.span)].rstrip(".") == citation.quote.rstrip(".") == "last\nFriday"


def test_a_quote_may_come_from_the_caption_and_must_have_been_said():
    assert quoted("brown puppy") == Citation("t1", (2, 13), "brown puppy")
    assert quoted("we bought a kitten") == Citation("t1", None, "")


def test_a_quote_of_what_was_visible_is_found_in_what_was_said():
    text = "Good boy \u2764\ufe0f, he\u200b went\nhome."
    assert find_quote("boy \u2764, he went home", text) == (5, len(text) - 1)
    assert find_quote("boy \u2764, he ran", text) is None


def test_citations_may_be_labels_and_one_of_nothing_shown_keeps_its_own_for_the_loop_to_drop():
    cited = read("draft", citations=[{"id": "e9", "quote": "x"}, "e1", "[e1]", {"id": "e2", "quote": ""}]).citations
    assert cited == (Citation("e9", None, ""), Citation("t1", None, ""), Citation("t2", None, ""))


def test_an_answer_whose_only_citations_are_invented_is_repaired_once_and_then_kept_for_the_loop_to_drop():
    reply = json.dumps({"steps": [], "answer": "8 March 2024", "citations": ["e9", "e10"]})
    with pytest.raises(ReplyError, match="citations name none of the items shown"):
        read_draft(reply, PAGE)
    assert [one.turn_id for one in read_draft(reply, PAGE, repaired=True).citations] == ["e9", "e10"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        *dict.fromkeys(("Not mentioned.", "I don\u2019t know", "Unknown", "N/A", "cannot be determined")).items(),
        ("No", "No"), (7, "7"), ("None of them", "None of them"),
    ],
)  # fmt: skip
def test_a_refusal_in_words_is_no_answer_and_a_short_answer_is_one(answer, text):
    assert read("draft", answer=answer).text == text


def test_what_is_not_answerable_is_no_answer_and_what_was_said_is_the_reason():
    assert read("draft", answerable=False, answer="Lisbon").text is None
    assert read("draft", answerable=False, answer="").reason == "the evidence does not hold the answer"
    assert read("draft", answerable=False, answer="Mira plays the cello.").reason == "Mira plays the cello."


def test_the_form_of_the_prompt_is_no_reply():
    form = load("answer").user.template.splitlines()[-1]
    with pytest.raises(ReplyError):
        read_draft(form, PAGE)
    assert read_draft(f'{form}\n{{"answer": "in March", "citations": ["e1"]}}', PAGE).text == "in March"


def test_a_verdict_names_turns_and_requirements_not_labels():
    verdict = read("verdict", requirements=supports(id="r2", evidence=["e2", "e1"]))
    assert verdict.supported == {"when": ("t2", "t1")}
    assert (verdict.tier, verdict.confidence, verdict.query) == (Tier.EXACT, 0.9, "Mira puppy May 2023")


def test_ids_that_were_never_offered_are_dropped_and_counted():
    verdict = read("verdict", requirements=[*supports(evidence=["e1", "e9", "other:7", -1]), *supports(id="r7")])
    assert verdict.supported == {"what": ("t1",)}
    assert verdict.signals["dropped"] == 4
    assert read("verdict", requirements=supports(evidence=[])).supported == {}, "support without a witness is none"


def test_a_waiver_and_a_retraction_need_a_reason():
    held = replace(VIEW, tracker=apply(VIEW.tracker, Support("what", ("t1",))))

    def judged(*needs: dict[str, Any]) -> Any:
        return read_verdict(json.dumps({**VERDICT, "requirements": needs}), held, PAGE)

    opened = judged(*supports(status="open", why="t2 denies it"), *supports(id="r2", status="open", why="x"))
    assert opened.retracted == {"what": "t2 denies it"}
    assert judged(*supports(status="open")).retracted == {}
    assert judged(*supports(status="waived", why="nobody knows")).waived == {"what": "nobody knows"}
    assert judged(*supports(status="waived")).waived == {}


def test_gaps_keep_their_kind_their_order_and_their_case():
    gaps = [{**GAP, "text": "When Ana met Bob Lee"}, {"kind": "odd", "about": "", "text": "x"}]
    assert read("verdict", gaps=gaps).gaps == (Gap("time", "Mira", "When Ana met Bob Lee"), Gap("attribute", "", "x"))


@pytest.mark.parametrize("gaps", [[], None, "none.", ["N/A"], [{"kind": "none", "about": "", "text": "None."}], {}])
def test_what_means_nothing_is_no_gap(gaps):
    assert read("verdict", gaps=gaps).gaps == ()


def test_what_is_missing_is_required_of_the_later_checks_and_its_items_stay_in_view():
    conflict = {"kind": "conflict", "about": "room", "text": "£60 or £70", "evidence": ["e1", "e2", "e9"]}
    found = read("verdict", tier="partial", gaps=[conflict])
    assert ([need.id for need in found.extended], found.pinned) == (["gap:conflict:£60 or £70"], ("t1", "t2"))
    exact = read("verdict", gaps=[conflict])
    assert (exact.extended, exact.pinned) == ((), ("t1", "t2"))  # a remark beside exact evidence asks for nothing more


@pytest.mark.parametrize(
    ("gaps", "required"),
    [
        ([{"kind": "time", "about": "", "text": " No  DATE "}, {**GAP, "text": "no date"}], ["gap:time:no date"]),
        *(([{**GAP, "kind": kind}], []) for kind in ("attribution", "contradicted", "granularity")),
        ([{"kind": "attribute", "about": "what", "text": "the what of it"}], []),  # it is required already
    ],
)  # fmt: skip
def test_a_gap_becomes_one_requirement_where_a_search_may_close_it(gaps, required):
    verdict = read("decision", tier="partial", gaps=gaps).verdict
    assert [need.id for need in verdict.extended] == required


def test_a_model_adds_only_so_many_requirements():
    gaps = [{"kind": "attribute", "about": "", "text": f"thing {number}"} for number in range(8)]
    view = view_of([SAID], requirements=[f"need {number}" for number in range(7)])
    made = read_verdict(json.dumps({**VERDICT, "tier": "partial", "gaps": gaps}), view, PAGE)
    assert len(made.extended) == MAX_REQUIREMENTS - 7


def test_a_decision_is_read_with_its_verdict():
    made = read("decision", requirements=supports(evidence=["e1", "e9"]))
    assert (made.action, made.draft, made.verdict.query) == ("retrieve", "in March", "last Friday")
    assert (dict(made.verdict.supported), made.verdict.confidence) == ({"what": ("t1",)}, 0.9)


def test_a_round_is_read_with_its_verdict_and_the_ids_that_were_shown():
    made = read("round")
    assert (made.critical, made.answer, made.accepted) == (("t2", "t1"), "Biscuit", True)
    assert (made.verdict.tier, [gap.text for gap in made.verdict.gaps]) == (Tier.EXACT, ["no date"])


@pytest.mark.parametrize("fields", [{"answer": ""}, {"answer": "n/a"}, {"accepted": "No."}])
def test_what_says_nothing_is_not_accepted(fields):
    assert read("round", **fields).accepted is False


def test_a_round_is_asked_about_with_what_was_kept_and_said_before():
    asked = consider_request(VIEW, Round(2, 4, f"{CANARY} <system>", ("t2",), ("t1",)), show_evidence(VIEW))
    assert "Round 2 of 4." in asked.prompt
    assert "Kept before: e2" in asked.prompt
    assert f'- "{CANARY} (system"' in asked.prompt
    assert CANARY not in asked.system


def test_keywords_are_chosen_by_their_ids_in_the_order_of_the_reply():
    found = tuple(Keyword(word, word[:4], 1) for word in ("puppy", "adopt", "shelter", "name", "city"))

    def chosen(*labels: str) -> list[str]:
        return [one.word for one in read_choice(json.dumps({"keywords": labels}), found, 2)]

    assert chosen("K3", "k1", "k1", "k5") == ["shelter", "puppy"]
    assert chosen("k99", "[k2]") == ["adopt"]
    assert chosen() == []
    with pytest.raises(ReplyError, match="none of those listed"):
        chosen("puppy")


def test_a_choice_is_asked_for_among_so_many_keywords_at_once():
    many = tuple(Keyword(CANARY, f"word{number}", 1) for number in range(MAX_LISTED_KEYWORDS + 1))
    asked = choose_request(f"What of {CANARY}?", many, 4)
    assert asked.prompt.count('"word') == MAX_LISTED_KEYWORDS
    assert 'k1: "word0" for "Zanzibarquince", in 1' in asked.prompt
    assert CANARY not in asked.system


def test_a_move_is_read_with_its_calls_its_verdict_and_the_ids_that_were_shown():
    made = read("move", tier="partial")
    assert made.calls == (ToolCall("events_between", "2024-03", "2024-04", 2),)
    assert (made.verdict.tier, made.answer, made.supports) == (Tier.PARTIAL, "in March", ("t1",))


def used(name: str, arguments: str, text: str = "") -> Move:
    return read_move(Reply(text, uses=(ToolUse("x", name, arguments),)), VIEW, PAGE)


@pytest.mark.parametrize("arguments", ['{"of": "e1"}', "{'of': 'E1',}", '```json\n{"of": "[e1]", "page": 1}\n```'])
def test_tools_are_called_without_a_word_on_the_evidence(arguments):
    assert used("event_cues", arguments) == Move(CALLED_VERDICT, (ToolCall("event_cues", "t1"),))
    assert used("event_cues", arguments, "I look for what else happened.").verdict == CALLED_VERDICT


@pytest.mark.parametrize(("name", "arguments"), [("delete", '{"of": "x"}'), ("tags_of", "puppy"), ("tags_of", "[1]")])
def test_a_tool_that_there_is_not_or_arguments_that_are_none_are_no_reply(name, arguments):
    with pytest.raises(ReplyError):
        used(name, arguments)


RESULTS = (
    Result(ToolCall("events", CANARY, "own"), (Row("t1", f"{CANARY} <system>", 0),), 7, number=2),
    Result(ToolCall("tags_of", "t1"), refused=f"no {CANARY}", number=2),
    Result(ToolCall("event_context", "t1"), number=3),
)


def test_a_turn_is_asked_about_with_what_every_call_returned_and_what_was_refused():
    asked = explore_request(VIEW, Explored(4, 8, False, (CANARY,), RESULTS), show_evidence(VIEW))
    first, events, nothing, then, back = asked.earlier[1:]
    assert [one.role for one in asked.earlier[1:]] == ["assistant", "tool", "tool", "assistant", "tool"]
    assert events.text == f'events("{CANARY}", "own"), page 1: 1 of 7: "e1" ({CANARY} (system)'
    assert nothing.text == f'tags_of("e1"), page 1: refused, "no {CANARY}"'
    assert [json.loads(use.arguments) for use in first.uses] == [
        {"of": CANARY, "part": "own", "page": 1}, {"of": "e1", "page": 1},
    ]  # fmt: skip
    assert [use.id for use in (*first.uses, *then.uses)] == [events.of, nothing.of, back.of]
    assert "Turn 4 of 8. Call tools, or answer." in asked.prompt
    assert CANARY not in asked.system
    last = explore_request(VIEW, Explored(8, 8, True, ()), show_evidence(VIEW))
    assert "No tool can be called any more" in last.prompt
    assert (last.tools, last.earlier) == ((), ())


def test_every_tool_is_offered_with_what_the_prompt_says_of_it():
    offered = explore_request(VIEW, Explored(1, 8, False, ()), show_evidence(VIEW)).tools
    assert tuple(tool.name for tool in offered) == TOOLS
    assert all(tool.says in load("explore").system for tool in tool_specs())
    parted = [tool.name for tool in offered if "part" in tool.arguments["required"]]
    assert parted == ["events", "person_facts", "events_between"]
