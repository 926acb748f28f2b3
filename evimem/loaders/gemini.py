"""Gemini's history from Google Takeout: MyActivity.json or MyActivity.html, prompts with the answers to them.

It names no conversation: prompts of one day are a session. A title begins with a verb in the language of the account
("Prompted ..."), which all titles share and which is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .conversation import UNREADABLE, ExportFile
from .export_walk import Chat, Export, Outcome, Said, Skipped, file_placeholders
from .html_pages import Event, parse_html, text_of_events, text_of_html
from .json_stream import read_list_elements
from .json_values import make_type_error

_PROMPTED = "Prompted "


def is_activity_page(start: bytes) -> bool:
    """Return whether a file begins as a page of Google's activity."""
    return b"<html" in start[:2048].lower() and b"outer-cell" in start and b"header-cell" in start


def _find_history(part: ExportFile) -> Iterator[Any]:
    """Yield the whole history as one chat, oldest first."""
    if part.read_beginning(512).lstrip()[:1] == b"<":
        entries = [*_read_page_entries(part)]
    else:
        with part.open() as file:
            entries = [one for one in read_list_elements(file, part.name) if _is_gemini(one)]
    entries.reverse()
    yield {"entries": entries, "prefix": _common_prefix(entries)}


def _is_gemini(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return True  # refused where it is read
    products = entry.get("products")
    named = [entry.get("header"), *(products if isinstance(products, list) else ())]
    return any("gemini" in str(one).casefold() or "bard" in str(one).casefold() for one in named) or not any(named)


def _common_prefix(entries: list[Any]) -> str:
    """Return the word or words that the titles of prompts begin with in the language of the account."""
    titles = [one["title"] for one in entries if isinstance(one, dict) and isinstance(one.get("title"), str)]
    if any(title.startswith(_PROMPTED) for title in titles):
        return _PROMPTED
    firsts = Counter(title.split(" ")[0] for title in titles)
    word, count = firsts.most_common(1)[0] if firsts else ("", 0)
    if count < max(3, 0.6 * len(titles)):
        return ""
    alike = [title for title in titles if title.startswith(word)]
    length = next((at for at, letters in enumerate(zip(*alike, strict=False)) if len(set(letters)) > 1), len(word))
    return alike[0][:length].rpartition(" ")[0] + " " if " " in alike[0][:length] else ""


def _read_history(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    prefix = raw["prefix"]
    return Chat("gemini", ({"prefix": prefix, "entry": entry} for entry in raw["entries"]), {})


def _read_entry(message: Any, names: Mapping[str, str]) -> Outcome:
    entry, prefix = message["entry"], message["prefix"]
    if not isinstance(entry, dict):
        raise make_type_error("an entry of the history", entry, "an object")
    title, answers = entry.get("title") or "", entry.get("safeHtmlItem") or []
    if not isinstance(title, str):
        raise make_type_error("its title", title, "a text")
    if not isinstance(answers, list):
        raise make_type_error("safeHtmlItem", answers, "a list")
    if prefix and not title.startswith(prefix) and not answers:
        return Skipped("activity")
    time = _parse_time(entry["time"])
    key = f"{time:%Y%m%dT%H%M%S%f}"
    digest = blake2b(title.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    files = [one.get("name") for one in entry.get("subtitles") or () if isinstance(one, dict) and one.get("url")]
    caption = file_placeholders(("file", files))
    prompt = Said(f"{key}-{digest}", "user", title.removeprefix(prefix).strip(), caption, "user", f"{time:%Y-%m-%d}",
        omitted=("content of a file",) * len(files), time=time.isoformat())  # fmt: skip
    texts = (text_of_html(one.get("html") or "") for one in answers if isinstance(one, dict))
    answer = "\n\n".join(text for text in texts if text)
    reply = replace(prompt, id=f"{key}-{digest}-answer", speaker="Gemini", text=answer, caption=None, role="assistant",
        omitted=())  # fmt: skip
    return [prompt, reply] if answer else [prompt]


def _parse_time(given: Any) -> datetime:
    if not isinstance(given, str) or len(given) > 80:
        raise ValueError("its time is no text in ISO 8601")
    try:
        plain = re.sub(r"\.(\d{1,6})\d*", lambda found: f".{found[1]:0<6}", given.strip().replace("Z", "+00:00"))
        found = datetime.fromisoformat(plain)
    except ValueError as error:
        raise ValueError("its time is in no form that is known; export the history as JSON (Takeout)") from error
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def _parse_page_time(given: str) -> datetime:
    """Return a time as a page has it, in the language and zone of the account: "Mar 12, 2024, 6:20:11 PM CET"."""
    import dateparser  # noqa: PLC0415 - its import takes 0.2 s

    # Of India, as accounts there write it: dateparser takes it for Israel's.
    found = dateparser.parse(re.sub(r"\bIST$", "+0530", " ".join(given.split())))
    if found is None:
        raise ValueError("it is no time, or in a zone that is not known; export the history as JSON (Takeout)")
    at: datetime = found
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


def _read_page_entries(part: ExportFile) -> Iterator[dict[str, Any]]:
    """Yield the entries of MyActivity.html in the form of MyActivity.json."""
    with part.open() as file:
        inside: list[Event] = []
        level, is_answer_cell, failed = -1, False, 0
        for event in parse_html(file, part.name):
            if level < 0 and "content-cell" in event.classes:
                is_answer_cell = "mdl-typography--body-1" in event.classes
                is_answer_cell &= "mdl-typography--text-right" not in event.classes
                inside, level = [], event.level
            elif level >= 0 and event.tag and event.attributes is None and event.level <= level:
                level = -1
                if is_answer_cell and (entry := _read_page_entry(inside)):
                    try:
                        # Give up after 20 times of a page: trying all languages takes half a second each.
                        entry["time"] = _parse_page_time(entry["time"]).isoformat() if failed < 20 else None
                    except UNREADABLE:
                        failed += 1  # it is refused where it is read
                    yield entry
            elif level >= 0:
                inside.append(event)


def _read_page_entry(events: list[Event]) -> dict[str, Any] | None:
    """Return an entry: its title to the first line that is a time; the rest is the answer."""
    lines: list[list[Event]] = [[]]
    top = min((event.level for event in events), default=0)
    for event in events:
        if event.tag == "br" and event.level == top:
            lines.append([])
        else:
            lines[-1].append(event)
    for at, line in enumerate(lines[1:], start=1):
        first = next((event.text for event in line if not event.tag and event.text.strip()), "")
        if _looks_like_time(first):
            rest = [event for event in line if event.text != first] + [
                event for more in lines[at + 1 :] for event in more
            ]
            title = "\n".join(text_of_events(one) for one in lines[:at]).strip()
            answer = text_of_events(rest)
            items = [{"html": _escape_control_characters(answer)}] if answer else []
            return {"title": title.replace("\xa0", " "), "time": first.strip(), "safeHtmlItem": items}
    return {"title": "", "time": ""} if any(event.text.strip() for event in events) else None


def _looks_like_time(text: str) -> bool:
    return len(text) <= 60 and bool(re.search(r"\d{4}", text) and re.search(r"\d{1,2}[:.]\d\d[:.]\d\d", text))


def _escape_control_characters(text: str) -> str:
    import html  # noqa: PLC0415

    return html.escape(text).replace("\n", "<br>")


GEMINI = Export("Gemini", ".*", _find_history, _read_history, (), _read_entry)
