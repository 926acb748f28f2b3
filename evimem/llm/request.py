"""Make requests to a model: prompts, the forms of their replies, and one call that is repaired once and logged.

Prompts are files, prompts/<name>.md, instructions above a line `---`, $field templates below, and last an example of a
reply. Beside each stands the form of its reply: a table of fields, each of a kind that says how it is asked for, in the
strict form of structured outputs (every field required, no other allowed), and how a reply is read. Lists and texts
are bounded, so that a model that does not end by itself is ended by the schema; a server that knows no `maxItems` or
`maxLength` is asked again without them (see `evimem.openai`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple, get_args

from ..errors import ModelError, PromptTooLong, ReplyError
from ..flow import Flow
from ..judging.judge import TOOLS, Action, Tool
from ..text.prompt_text import remove_invisible
from ..types.trace import Called, Complete, ModelRole, Reply
from ..types.type_variables import T
from ..types.values import GapKind
from .json_reply import read_object

Schema = dict[str, Any]
Read = Callable[[Any], Any]
MAX_LABEL_CHARACTERS = 40  # characters
MAX_SENTENCE_CHARACTERS = 400  # characters
MAX_TEXT_CHARACTERS = 4_000  # characters of an answer, which may be a list or a summary
MAX_TAG_CHARACTERS = 60  # characters of a keyword, a tag or a topic
MAX_KEY_CHARACTERS = 300  # characters of a name that a reply repeats, whatever it names
MAX_SENTENCES = 12

CUT_REPLY_TOKEN_FACTOR = 4  # times as many tokens for the reply that follows a cut one

_NONE_WORDS = {"", "none", "n/a", "na", "nothing", "no", "null", "nil", "no gap", "no gaps", "nothing missing"}
_FLAGS = {"yes": True, "true": True, "y": True, "no": False, "false": False, "n": False}


def text(value: Any, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a string or a number as clean text of at most `limit` characters, anything else as an empty string."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    if isinstance(value, int) and abs(value) >= 10**18:
        return ""
    return remove_invisible(str(value)[: 2 * limit]).strip()[:limit]


def text_unless_it_says_none(value: Any, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a text as `text` does, but an empty one for a word such as "none." or "N/A"."""
    clean = text(value, limit)
    return "" if clean.strip(" .!-*_\"'").lower() in _NONE_WORDS else clean


def confidence(value: Any) -> float | None:
    """Return a number in 0..1, read from 0.95, "0.95 (high)", 95 or "95%"; None for anything else."""
    if isinstance(value, str) and (match := re.search(r"-?\d{1,12}(?:\.\d{1,12})?\s*%?", value[:80])):
        value = float(match[0].rstrip("% ")) / (100 if "%" in match[0] else 1)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 100:
        return None
    number = value / 100 if value > 1 else float(value)
    return number if math.isfinite(number) and number >= 0 else None


def flag(value: Any) -> bool | None:
    """Return a yes or no as a boolean, None for neither."""
    word = re.match(r"\W*(\w+)", str(value).lower() if isinstance(value, bool) else text(value, 40).lower())
    return _FLAGS.get(word[1]) if word else None


def names(value: Any, limit: int = MAX_KEY_CHARACTERS) -> tuple[str, ...]:
    """Return the names in a list, or in a string, split at commas, semicolons and line breaks."""
    if isinstance(value, str):
        value = [
            one.strip(" \"'*-[]()") for one in re.split(r"[,;\n]", text_unless_it_says_none(value).strip("[](){} "))
        ]
    # So many names are read, whatever the list was to have.
    entries = value[:200] if isinstance(value, list) else []
    return tuple(name for one in entries if (name := text_unless_it_says_none(one, limit)))


def sentences(value: Any) -> tuple[str, ...]:
    """Return the sentences in a list, or in the lines of a string."""
    lines = value.split("\n") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(clean for one in lines[:MAX_SENTENCES] if (clean := text_unless_it_says_none(one)))


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a field of a reply: the schema that asks for it, and its reader.

    `needed` says what a value is that reads as None, where the reply is then none.
    """

    schema: Schema
    read: Read
    needed: str = ""


def _words(most: int, read: Callable[[Any, int], str] = text_unless_it_says_none, at_most: int = 0) -> Kind:
    """A text that is to have `most` characters, and is read to `at_most` where that is more."""
    return Kind({"type": "string", "maxLength": most}, lambda value: read(value, max(most, at_most)))


def _list(of: Schema, most: int, read: Read) -> Kind:
    return Kind({"type": "array", "items": of, "maxItems": most}, read)


def _one_of(*allowed: str, is_needed: bool = False) -> Kind:
    """A word, which is read whatever its case and punctuation."""

    def read(value: Any) -> str | None:
        word = re.sub(r"[\s-]+", "_", text(value, 80).strip(" .!*_`\"'").lower())
        return word if word in allowed else None

    return Kind({"type": "string", "enum": list(allowed)}, read, f"none of {allowed!r}" if is_needed else "")


def _schema(fields: Mapping[str, Kind]) -> Schema:
    properties = {name: kind.schema for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def _records(most: int, bare: str, **fields: Kind) -> Kind:
    """A list of objects, of which twice as many are read as are asked for: surplus ones are told as such.

    A value that is no object stands for its field `bare`, and what is no list for the only one in it.
    """

    def read(value: Any) -> tuple[dict[str, Any], ...]:
        entries = value[: 2 * most] if isinstance(value, list) else [] if value is None else [value]
        whole = (entry if isinstance(entry, dict) else {bare: entry} for entry in entries)
        return tuple({name: kind.read(entry.get(name)) for name, kind in fields.items()} for entry in whole)

    return _list(_schema(fields), most, read)


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """The form of the reply to a prompt: its fields by name, of which an object has one `by`, or it is no reply.

    `most_tokens` are those of a reply with a model's thoughts. Replies have about 150; a cut reply is asked for once
    more with more room. A reply that is only a list of objects is the value of the field `bare`.
    """

    prompt: str
    role: ModelRole
    by: tuple[str, ...]
    fields: Mapping[str, Kind]
    most_tokens: int
    bare: str | None = None

    @property
    def schema(self) -> Schema:
        """The JSON schema of the whole reply."""
        return _schema(self.fields)

    def having(self, **fields: Kind) -> ReplyForm:
        """Return the form with some fields of another kind."""
        return replace(self, fields={**self.fields, **fields})

    def request(self, **values: object) -> Complete:
        """Return the request that the prompt file makes with these values. Raise KeyError for a missing one.

        Values are filled into the user part only: retrieved text must never reach the instructions.
        """
        prompt = load(self.prompt)
        return Complete(self.role, prompt.system, prompt.user.substitute(values), self.schema, self.most_tokens)

    def read(self, reply: str) -> dict[str, Any]:
        """Return the fields of a reply. Raise ReplyError where it holds no such object, or one too few."""
        found = read_object(reply, self.role, self.by, bare=self.bare, form=load(self.prompt).example)
        said = {name: kind.read(found.get(name)) for name, kind in self.fields.items()}
        for name, kind in self.fields.items():
            if kind.needed and said[name] is None:
                raise ReplyError(self.role, f"its {name} is {kind.needed}", reply)
        return said


class Prompt(NamedTuple):
    """A prompt file: its instructions, the template of its data, and its example of a reply, which is no reply."""

    system: str
    user: Template
    example: Mapping[str, Any]


@cache
def load(name: str) -> Prompt:
    """Return a prompt: from the wheel, or from prompts/ next to the package in a checkout."""
    packed = files("evimem") / "_prompts" / f"{name}.md"
    path = packed if packed.is_file() else Path(__file__).parents[2] / "prompts" / f"{name}.md"
    system, _, user = path.read_text(encoding="utf-8").partition("\n---\n")
    return Prompt(system.strip(), Template(user.strip()), json.loads(user.strip().rpartition("\n")[2]))


def bound_lists(form: ReplyForm, **most: int) -> ReplyForm:
    """Return a form with at most so many entries in each named list, at least one: a weak model fills a list.

    What a reply has beyond them is read all the same.
    """
    kinds = ((name, form.fields[name], max(1, count)) for name, count in most.items())
    return form.having(
        **{
            name: replace(kind, schema={**kind.schema, "maxItems": min(kind.schema["maxItems"], count)})
            for name, kind, count in kinds
        }
    )


def with_tools(tools: tuple[Tool, ...]) -> ReplyForm:
    """Return the form of a reply that calls none but these tools."""
    return EXPLORE.having(calls=_calls(tools))


def _form(
    prompt: str, role: ModelRole, by: str, most_tokens: int = 2_000, bare: str | None = None, /, **fields: Kind
) -> ReplyForm:
    return ReplyForm(prompt, role, tuple(by.split()), fields, most_tokens, bare)


def _calls(tools: tuple[Tool, ...]) -> Kind:
    return _records(5, "tool", tool=_one_of(*tools), of=_KEY, part=_KEY, page=Kind({"type": "number"}, _page))


def _page(value: Any) -> int:
    given = text(value, 6)
    return max(1, int(given)) if given.isdecimal() else 1


_LABEL, _KEY = _words(MAX_LABEL_CHARACTERS, text, MAX_KEY_CHARACTERS), _words(MAX_KEY_CHARACTERS, text)
_LINE, _PROSE = _words(MAX_SENTENCE_CHARACTERS), _words(MAX_TEXT_CHARACTERS)
_QUERY = replace(_LINE, read=lambda value: " ".join(text_unless_it_says_none(value, MAX_SENTENCE_CHARACTERS).split()))
_LABELS, _LINES = partial(_list, _LABEL.schema, read=names), partial(_list, _LINE.schema, read=sentences)
_QUOTE = _words(1_000, text)
_ANSWER = replace(_PROSE, read=lambda value: text(value) if type(value) in {str, int, float} else None)
_YES_NO = Kind({"type": "boolean"}, flag)
_TIER = _one_of("exact", "inferrable", "partial", "none", is_needed=True)
_CONFIDENCE = Kind({"type": "number"}, confidence, "no number between 0 and 1")
_REQUIREMENTS = _records(
    12, "id", id=_LABEL, status=_one_of("supported", "open", "waived"), evidence=_LABELS(12), why=_LINE
)
_CITATIONS = _records(20, "id", id=_LABEL, quote=_QUOTE)
_GAPS = _records(
    8,
    "text",
    kind=_one_of(*(kind for kind in get_args(GapKind) if kind != "none")),
    about=_words(80),
    text=_LINE,
    evidence=_LABELS(4),
)

JUDGE = _form(
    "judge", "judge", "tier",
    requirements=_REQUIREMENTS, gaps=_GAPS, reason=_LINE, tier=_TIER, confidence=_CONFIDENCE, next_query=_QUERY,
)  # fmt: skip
JOINT = replace(JUDGE.having(answer=_ANSWER, citations=_CITATIONS), prompt="joint")
DECIDE = _form(
    "decide", "decide", "action tier",
    requirements=_REQUIREMENTS, claims=_records(12, "text", text=_LINE, evidence=_LABELS(12)),
    withdrawn=_records(12, "id", id=_LABEL, why=_LINE), gaps=_GAPS, reason=_LINE, tier=_TIER, confidence=_CONFIDENCE,
    action=_one_of(*get_args(Action), is_needed=True), query=_QUERY, draft=_PROSE,
)  # fmt: skip
KEYWORDS = _form("keywords", "decide", "keywords", 1_000, keywords=_LABELS(8))
CONSIDER = _form(
    "consider", "decide", "critical accepted tier",
    critical=_LABELS(20), gaps=_GAPS, reason=_LINE, tier=_TIER, confidence=_CONFIDENCE, answer=_PROSE,
    accepted=replace(_YES_NO, needed="neither true nor false"),
)  # fmt: skip
EXPLORE = _form(
    "explore", "decide", "calls tier",
    keep=_list(_KEY.schema, 40, lambda value: None if value is None else names(value)), reason=_LINE,
    calls=_calls(TOOLS), gaps=_GAPS, tier=_TIER, confidence=_CONFIDENCE, answer=_PROSE, supports=_LABELS(20),
)  # fmt: skip
ANSWER = _form(
    "answer", "answer", "answer",
    steps=_LINES(5), answerable=_YES_NO, answer=_ANSWER, citations=_CITATIONS,
)  # fmt: skip
_FACTS = _records(
    32,
    "subject",
    subject=_KEY,
    predicate=_KEY,
    object=_KEY,
    attribute=_words(40),
    when=_words(120),
    quote=_QUOTE,
    kind=_one_of("event", "state", "opinion", "plan", "image"),
    bears_on=_words(120),
)
_LISTED = replace(_FACTS, read=lambda value: _FACTS.read(value) if isinstance(value, list) else None, needed="no list")
_FILED = _words(MAX_LABEL_CHARACTERS, text_unless_it_says_none, MAX_TAG_CHARACTERS)
EXTRACT = _form(
    "extract", "extract", "facts", 4_000, "facts",
    facts=_LISTED, keywords=_list(_LABEL.schema, 8, partial(names, limit=MAX_TAG_CHARACTERS)), tag=_FILED, topic=_FILED,
)  # fmt: skip
ENTITIES = _form("entities", "judge", "names", 500, names=_list(_words(80).schema, 10, names))
REFINE = _form("refine", "judge", "query", 500, query=_QUERY)
RERANK = _form("rerank", "rerank", "ranking", 2_000, "ranking", ranking=_LABELS(100))
CHAIN = _form(
    "chain", "judge", "type", 1_500, type=_one_of("multi_hop", "direct"), steps=_LINES(12), used=_LABELS(20)
)  # fmt: skip


@dataclass(slots=True)
class Ledger:
    """The log of the model requests of one judgement or answer, in order."""

    iteration: int
    calls: tuple[Called, ...] = ()

    def record(self, role: str, outcome: str, reply: Reply | None, *, repairs: int) -> None:
        """Record a request and its outcome: "ok", or the name of the error's class."""
        cost = reply or Reply("")
        spent = (cost.input_tokens, cost.output_tokens, cost.seconds, repairs, cost.retries)
        self.calls += (Called(self.iteration, role, outcome, *spent, cost.text, cost.cost, cost.uses),)


def ask_model(
    request: Complete, parse: Callable[[str], T], ledger: Ledger, at_last: Callable[[str], T] | None = None
) -> Flow[T]:
    """Ask as `ask` does, for a reply of which only the text is read."""
    last = parse if at_last is None else at_last
    return ask(request, lambda reply: parse(reply.text), ledger, lambda reply: last(reply.text))


def ask(
    request: Complete, parse: Callable[[Reply], T], ledger: Ledger, at_last: Callable[[Reply], T] | None = None
) -> Flow[T]:
    """Return the model's reply as `parse` reads it. Where it raises ReplyError, ask once more, naming the reason.

    The second reply is read by `at_last`, if given. It may be longer, where the first was cut: models think at length.
    Raise ModelError, with the requests so far in `calls`, when the second reply cannot be parsed either, and
    PromptTooLong when the model did not read all of the request.
    """
    try:
        return (yield from _attempt(request, parse, ledger, repairs=0))
    except ReplyError as error:
        again = replace(request, prompt=f"{request.prompt}\n\n{_complaint(error)}")
        if error.cut and request.most_tokens is not None:
            again = replace(again, most_tokens=CUT_REPLY_TOKEN_FACTOR * request.most_tokens)
    return (yield from _attempt(again, at_last or parse, ledger, repairs=1))


def _attempt(request: Complete, parse: Callable[[Reply], T], ledger: Ledger, *, repairs: int) -> Flow[T]:
    reply: Reply | None = None
    try:
        reply = yield request
        _check_read(request, reply)
        value = parse(reply)
    except ModelError as error:
        ledger.record(request.role, type(error).__name__, reply or error.received, repairs=repairs)
        error.calls = ledger.calls
        raise
    ledger.record(request.role, "ok", reply, repairs=repairs)
    return value


def _check_read(request: Complete, reply: Reply) -> None:
    """Raise PromptTooLong where the usage says that the server read only a part of the request.

    Some servers drop text beyond their context without a word, instructions first; such a reply means nothing.
    """
    length = len(" ".join(request.text.split()))
    # No server cuts a request of 4,000 characters. A token has 3 to 5 characters of text, and a word 6. Usage below 400
    # tokens is no context that a server has, but a number that means nothing.
    if length > 4_000 and 400 <= reply.input_tokens < length / 7.5:
        raise PromptTooLong(
            f"the server read {reply.input_tokens} tokens of a request of {length} characters; raise its context size",
            retryable=False,
        )


def _complaint(error: ReplyError) -> str:
    """Return the repair request: the reason only, because the bad reply may repeat instructions planted in a turn."""
    return f"Your previous reply could not be used: {error.why}. Reply once more, with the JSON object alone."
