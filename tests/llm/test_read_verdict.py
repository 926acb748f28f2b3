import json

import pytest

from evimem.errors import ReplyError
from evimem.judging.tracker import Support, apply
from evimem.llm.evidence_prompt import show_evidence
from evimem.llm.read_verdict import read_verdict
from evimem.types.values import Gap, Tier
from tests.llm.views import page, turn, view_of

VIEW = view_of([turn(1, "We adopted a puppy."), turn(2, "Last Friday it was.")], requirements=("what", "when"))
GOOD = {"tier": "exact", "confidence": 0.9, "requirements": [], "gaps": [], "next_query": "", "reason": ""}


def judged(reply, view=VIEW, **fields):
    text = reply if isinstance(reply, str) else json.dumps({**reply, **fields})
    return read_verdict(text, view, show_evidence(view))


def supports(**fields):
    return [{"id": "r1", "status": "supported", "evidence": ["e1"], "why": "", **fields}]


def test_a_verdict_names_turns_and_requirements_not_labels():
    verdict = judged(GOOD, requirements=supports(id="r2", evidence=["e2", "e1"]))
    assert verdict.supported == {"when": ("t2", "t1")}
    assert (verdict.tier, verdict.confidence) == (Tier.EXACT, 0.9)
    assert judged(GOOD, next_query="Mira\n puppy\tMay 2023 ").query == "Mira puppy May 2023"


def test_ids_that_were_never_offered_are_dropped_and_counted():
    verdict = judged(GOOD, requirements=[*supports(evidence=["e1", "e9", "other:7", -1]), *supports(id="r7")])
    assert verdict.supported == {"what": ("t1",)}
    assert verdict.signals["dropped"] == 4


def test_support_without_a_witness_is_no_support():
    assert judged(GOOD, requirements=supports(evidence=[])).supported == {}


def test_a_waiver_and_a_retraction_need_a_reason():
    held = view_of([turn(1, "a")], requirements=("what", "when"))
    held = type(held)(
        **{**{n: getattr(held, n) for n in held.__slots__}, "tracker": apply(held.tracker, Support("what", ("t1",)))}
    )
    opened = judged(
        GOOD,
        held,
        requirements=[*supports(status="open", why="t2 denies it"), *supports(id="r2", status="open", why="x")],
    )
    assert opened.retracted == {"what": "t2 denies it"}
    assert judged(GOOD, held, requirements=supports(status="open")).retracted == {}
    assert judged(GOOD, requirements=supports(status="waived", why="nobody knows")).waived == {"what": "nobody knows"}
    assert judged(GOOD, requirements=supports(status="waived")).waived == {}


def test_gaps_keep_their_kind_their_order_and_their_case():
    gaps = [
        {"kind": "time", "about": "Bob Lee", "text": "When Caroline met Bob Lee"},
        {"kind": "odd", "about": "", "text": "x"},
    ]
    assert judged(GOOD, gaps=gaps).gaps == (
        Gap("time", "Bob Lee", "When Caroline met Bob Lee"),
        Gap("attribute", "", "x"),
    )


@pytest.mark.parametrize("gaps", [[], None, "none.", ["N/A"], [{"kind": "none", "about": "", "text": "None."}], {}])
def test_what_means_nothing_is_no_gap(gaps):
    assert judged(GOOD, gaps=gaps).gaps == ()


@pytest.mark.parametrize(
    "reply",
    [
        {**GOOD, "tier": "certainly"}, {**GOOD, "tier": None}, {**GOOD, "confidence": None},
        {**GOOD, "confidence": -1}, {**GOOD, "confidence": "high"}, {"tier": "exact"},
        "EXACT: yes\nCONFIDENCE: 0.5",
    ],
)  # fmt: skip
def test_a_verdict_without_a_tier_or_a_confidence_is_not_guessed(reply):
    with pytest.raises(ReplyError, match=r"tier|confidence"):
        judged(reply)


def test_what_is_missing_is_required_of_the_later_checks_and_its_items_stay_in_view():
    fee, later = turn(1, "The room costs £60."), turn(2, "They now want £70 for it.")
    conflict = {"kind": "conflict", "about": "room", "text": "£60 or £70", "evidence": ["e1", "e2", "e9"]}
    said = {"tier": "partial", "confidence": 0.4, "requirements": [], "gaps": [conflict]}
    found = read_verdict(json.dumps(said), view_of([fee, later]), page(fee, later))
    assert ([need.id for need in found.extended], found.pinned) == (["gap:conflict:£60 or £70"], ("t1", "t2"))
    exact = read_verdict(json.dumps({**said, "tier": "exact"}), view_of([fee, later]), page(fee, later))
    assert (exact.extended, exact.pinned) == ((), ("t1", "t2"))  # a remark beside exact evidence asks for nothing more
