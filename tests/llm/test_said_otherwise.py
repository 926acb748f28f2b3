"""A model is shown a report beside the person's own word, never in its place."""

import json
from dataclasses import replace

import evimem
from evimem.extract.rule_extractor import RuleExtractor
from evimem.llm.evidence_prompt import show_evidence
from evimem.testing import ScriptedModel
from tests.llm.views import evidence, turn, view_of
from tests.replies import SUPPORTED

VERDICT = {"tier": "exact", "confidence": 0.9, "requirements": SUPPORTED, "gaps": [], "next_query": "", "reason": ""}
DRAFT = {"steps": [], "answer": "Leeds", "citations": [{"id": "e1", "quote": "Leeds"}]}
OWN, REPORT = turn(12, "I live in Leeds."), turn(20, "Mira lives in Paris now.", "Tomas")


def found(said, iteration=1):
    return evidence(said, facts=RuleExtractor().extract(said), iteration=iteration)


def test_the_page_says_beside_a_report_what_the_person_said(tmp_path):
    model = ScriptedModel([json.dumps(VERDICT), json.dumps(DRAFT)])
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        memory.extend([OWN, REPORT])
        assert memory.ask("Where does Mira live?").text == "Leeds"
    for request in model.requests:
        page = request.prompt
        assert '> Mira lives in Paris now.\n= "Mira" said otherwise: "Mira lives in Leeds"' in page
        assert "no longer so" not in page
        assert "themselves" in request.system


def test_an_own_word_that_is_found_after_the_report_is_shown_beside_it():
    first = view_of([found(REPORT)])
    show_evidence(first)
    second = view_of([found(OWN, 2), found(REPORT)], iteration=2)
    shown = show_evidence(replace(second, memo=first.memo)).text
    assert shown.endswith('> I live in Leeds.\n= "Tomas" said otherwise: "Mira lives in Paris"')


def test_a_report_that_agrees_or_came_before_or_was_replaced_says_nothing_otherwise():
    agrees = turn(20, "Mira lives in Leeds.", "Tomas")
    before = turn(3, "Mira lives in Paris now.", "Tomas")
    gone = evidence(REPORT, facts=tuple(replace(fact, replaced_by="x") for fact in found(REPORT).facts))
    for other in (found(agrees), found(before), gone):
        assert "otherwise" not in show_evidence(view_of([found(OWN), other])).text
