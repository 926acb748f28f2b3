"""The short answer where it is proven and probable, else the quotation, each with the probability of its claim."""

from __future__ import annotations

from dataclasses import replace

from ..extract import conventions_of
from ..judging.evidence import Draft, Verdict, View
from ..protocols import Extractor
from ..types.attempt import without
from .constants import Constants, log_odds
from .later_turns import with_news
from .likely_turns import likely_turns
from .match_sentences import match
from .other_languages import is_in_english
from .quotation import Quotation, quote, whole
from .verified import NotStated, ShortAnswer, short_answer

UNPROVEN = "no short answer is proven; these are the sentences to read"
# Forms whose proofs did not hold on conversations that their author had not seen: 9 of 16 were right, so they are
# quoted. What decides them still counts as a signal of whether the memory answers at all.
QUOTED_FORMS = frozenset({"yes_no"})
# Forms of a number with or without a unit: it is more easily that of something else than a date is.
AMOUNTS = frozenset(("age", "clock", "count", "duration", "money", "percent", "size"))
# What is left of the odds that an answer is right where a later report contradicts the person's own word that it rests
# on. Reasoned, not fitted, as no labelled chat has such an answer: the report may be an error as well as news.
CONTESTED = 0.5
UNREAD = "quoted, not answered: answers are read from English only"


def proven(view: View, extractor: Extractor) -> ShortAnswer | NotStated | None:
    """Return what the shown evidence proves, kept in the view's memo for the answer that follows a check.

    The rules that prove it are English: they prove nothing of a question or of evidence in another language.
    """
    return view.kept_at_check(
        "short", lambda: without(None, short_answer, view, extractor) if is_in_english(view) else None
    )


def claim_signals(short: ShortAnswer | NotStated | None) -> dict[str, float]:
    """Return how firm the proof of a short answer is, which its probability is read from, and of which form it is."""
    if not isinstance(short, ShortAnswer):
        return {}
    form = short.form.partition(":")[0]
    return {"support": short.support, f"form_{form}": 1.0, "amount": float(form in AMOUNTS)}


def quoted(view: View, constants: Constants, extractor: Extractor) -> Quotation | None:
    """Return the sentences to read for an answer, kept like what is proven."""
    conventions, matches = conventions_of(extractor), match(view)
    alike = {item.turn.id: 0.5 for item in view.shown}  # where what tells turns apart cannot be read
    return view.kept_at_check(
        "quoted",
        lambda: quote(view, matches, without(alike, likely_turns, view, matches, constants.likely, conventions)),
    )


def choose(view: View, verdict: Verdict, constants: Constants, extractor: Extractor) -> Draft:
    """Answer shortly or quote. `verdict` gives the probability that the memory holds an answer, and the signals."""
    told = log_odds(verdict.confidence if verdict.probability is None else verdict.probability)
    short = proven(view, extractor)
    if isinstance(short, ShortAnswer) and short.form not in QUOTED_FORMS:
        right = _right(short, told, constants)
        if right >= constants.answer_from:
            against = () if short.conflict is None else short.conflict.citations
            return Draft(short.text, (*short.citations, *against), short.steps, short.time, confidence=right)
    found = quoted(view, constants, extractor)
    if found is None:
        return Draft(None, reason="no sentence of the evidence bears on the question")
    holds = constants.holds.probability({**verdict.signals, "told": told})
    reason = UNPROVEN
    if not is_in_english(view):
        reason, found = UNREAD, replace(found, extracts=with_news(view, found.extracts))
    return Draft(found.text, found.citations, reason=reason, kind="quote", confidence=holds)


def unread(view: View) -> Draft:
    """Quote the turn that search found best, where nothing more can be read: a failure is no abstention."""
    best = next((item.turn for item in view.evidence if item.turn.text.strip()), None)
    if best is None:
        return Draft(None, reason="no turn of the evidence has words")
    extract = whole(best)
    reason = "the evidence could not be read: this was found first"
    return Draft(extract.line, (extract.citation,), reason=reason, kind="quote")


def _right(short: ShortAnswer, told: float, constants: Constants) -> float:
    """Return the probability that a short answer is right; `told` are the log-odds that the memory answers at all."""
    right = constants.right.probability({**claim_signals(short), "told": told})
    if short.conflict is None:
        return right
    odds = CONTESTED * right / (1 - right)
    return odds / (1 + odds)
