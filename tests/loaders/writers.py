"""Writers of made exports: each turns the same messages into the files of a program, as that program writes them."""

import csv
import html
import io
import json
import zipfile
from copy import deepcopy
from datetime import datetime, timezone
from itertools import pairwise
from typing import NamedTuple


class Message(NamedTuple):
    """A message of a made chat; `time` is UTC, to the second."""

    speaker: str
    text: str
    time: datetime

    @property
    def iso(self):
        return self.time.isoformat()

    @property
    def seconds(self):
        return int(self.time.timestamp())


def dumped(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def role_of(message):
    return "user" if message.speaker == "user" else "assistant"


def places(value, path=()):
    """Yield the path to each value inside of a value."""
    yield path
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in rows:
        yield from places(below, (*path, key))


def with_value(export, path, value):
    """Return a copy of a value with another one at a path."""
    whole = deepcopy([export])
    at = whole
    for key in (0, *path)[:-1]:
        at = at[key]
    at[(0, *path)[-1]] = value
    return whole[0]


def chatgpt(messages, **more):
    mapping = {"root": {"id": "root", "parent": None, "children": ["n0"], "message": None}}
    for at, one in enumerate(messages):
        body = {"id": f"m{at}", "author": {"role": role_of(one)}, "create_time": one.seconds, "recipient": "all"}
        body |= {"content": {"content_type": "text", "parts": [one.text]}, "metadata": {}, "weight": 1.0}
        parent = f"n{at - 1}" if at else "root"
        mapping[f"n{at}"] = {"id": f"n{at}", "parent": parent, "children": [f"n{at + 1}"], "message": body}
    last = f"n{len(messages) - 1}"
    mapping[last]["children"] = []
    return dumped([{"conversation_id": "c1", "title": "T", "mapping": mapping, "current_node": last, **more}])


def claude(messages):
    said = [
        {
            "uuid": f"m{at}", "sender": "human" if one.speaker == "user" else "assistant", "text": one.text,
            "content": [{"type": "text", "text": one.text}], "created_at": one.iso, "attachments": [], "files": [],
        }
        for at, one in enumerate(messages)
    ]  # fmt: skip
    return dumped([{"uuid": "c1", "name": "T", "created_at": messages[0].iso, "chat_messages": said}])


def telegram(messages):
    said = [
        {"id": at, "type": "message", "date": one.time.strftime("%Y-%m-%dT%H:%M:%S"), "date_unixtime": str(one.seconds),
         "from": one.speaker, "text": one.text}
        for at, one in enumerate(messages)
    ]  # fmt: skip
    return dumped({"name": "Home", "type": "private_group", "id": 7, "messages": said})


def telegram_page(messages):
    rows, last = [], None
    for at, one in enumerate(messages):
        joined = " joined" if one.speaker == last else ""
        name = "" if joined else f'<div class="from_name">\n{html.escape(one.speaker)} \n</div>'
        text = html.escape(one.text).replace("\n", "<br>")
        rows.append(
            f'<div class="message default clearfix{joined}" id="message{at}"><div class="body">'
            f'<div class="pull_right date details" title="{one.time:%d.%m.%Y %H:%M:%S} UTC+00:00">x</div>{name}'
            f'<div class="text">\n{text}\n</div></div></div>'
        )
        last = one.speaker
    head = '<div class="page_header"><div class="content"><div class="text bold">\nHome\n</div></div></div>'
    body = f'<div class="page_body chat_page"><div class="history">{"".join(rows)}</div></div>'
    return f"<!DOCTYPE html><html><head><title>x</title></head><body>{head}{body}</body></html>".encode()


def slack(messages):
    escaped = [one.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for one in messages]
    return dumped(
        [
            {"type": "message", "username": one.speaker, "ts": f"{one.seconds}.{at:06}", "text": text}
            for at, (one, text) in enumerate(zip(messages, escaped, strict=True))
        ]
    )


def slack_blocks(messages):
    def block(text):
        return {
            "type": "rich_text",
            "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}],
        }

    return dumped(
        [
            {
                "type": "message",
                "username": one.speaker,
                "ts": f"{one.seconds}.{at:06}",
                "text": "",
                "blocks": [block(one.text)],
            }
            for at, one in enumerate(messages)
        ]
    )


def discord(messages):
    said = [
        {"id": str(at), "type": "Default", "timestamp": one.iso, "content": one.text,
         "author": {"id": "1", "name": one.speaker, "isBot": False}, "embeds": []}
        for at, one in enumerate(messages)
    ]  # fmt: skip
    return dumped({"guild": {"id": "1"}, "channel": {"id": "7", "name": "home"}, "messages": said})


def discord_package(messages):
    return dumped(
        [
            {"ID": at, "Timestamp": one.time.strftime("%Y-%m-%d %H:%M:%S"), "Contents": one.text, "Attachments": ""}
            for at, one in [*enumerate(messages)][::-1]
        ]
    )


def discord_package_csv(messages):
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["ID", "Timestamp", "Contents", "Attachments"])
    for at, one in [*enumerate(messages)][::-1]:
        writer.writerow([at, one.time.strftime("%Y-%m-%d %H:%M:%S.%f+00:00"), one.text, ""])
    return file.getvalue().encode()


def messenger(messages):
    def mangled(text):
        return text.encode().decode("latin-1")

    said = [
        {"sender_name": mangled(one.speaker), "timestamp_ms": one.seconds * 1000, "content": mangled(one.text)}
        for one in messages[::-1]
    ]
    names = [{"name": mangled(name)} for name in dict.fromkeys(one.speaker for one in messages)]
    return json.dumps(
        {"participants": names, "messages": said, "title": "Home", "thread_path": "inbox/home_1"}
    ).encode()


def messenger_encrypted(messages):
    said = [
        {"isUnsent": False, "media": [], "reactions": [], "senderName": one.speaker, "text": one.text,
         "timestamp": one.seconds * 1000, "type": "text"}
        for one in messages
    ]  # fmt: skip
    return dumped({"participants": ["user", "assistant"], "threadName": "Home_1", "messages": said})


def gemini(messages):
    """Write prompts with answers: the messages are of the user and of Gemini in turn."""
    entries = []
    for prompt, answer in zip(messages[::2], messages[1::2], strict=True):
        item, time = {"html": html.escape(answer.text).replace("\n", "<br>")}, prompt.iso.replace("+00:00", "Z")
        entries.append(
            {"header": "Gemini Apps", "title": f"Prompted {prompt.text}", "time": time,
             "products": ["Gemini Apps"], "safeHtmlItem": [item]}
        )  # fmt: skip
    return dumped(entries[::-1])


def gemini_page(messages):
    cells = []
    for prompt, answer in zip(messages[::2], messages[1::2], strict=True):
        text, reply = (html.escape(one.text).replace("\n", "<br>") for one in (prompt, answer))
        cells.append(
            '<div class="outer-cell mdl-cell"><div class="mdl-grid">'
            '<div class="header-cell mdl-cell"><p>Gemini Apps</p></div>'
            f'<div class="content-cell mdl-cell mdl-typography--body-1">Prompted\xa0{text}<br>'
            f"{prompt.time.strftime('%b %d, %Y, %I:%M:%S %p')} UTC<br><p>{reply}</p></div>"
            '<div class="content-cell mdl-cell mdl-typography--body-1 mdl-typography--text-right"></div></div></div>'
        )
    return f"<html><head></head><body>{''.join(cells[::-1])}</body></html>".encode()


def mem0(messages):
    memories = [
        {
            "id": f"m{at}",
            "memory": one.text,
            "hash": "x",
            "metadata": None,
            "created_at": one.iso,
            "updated_at": None,
            "user_id": "u1",
        }
        for at, one in enumerate(messages)
    ]
    return dumped({"results": memories})


def sharegpt(messages):
    said = [
        {"from": "human" if one.speaker == "user" else "gpt", "value": one.text, "timestamp": one.iso}
        for one in messages
    ]
    return dumped([{"id": "c1", "conversations": said}])


def sharegpt_lines(messages):
    (whole,) = json.loads(sharegpt(messages))
    return dumped(whole) + b"\n" + dumped({"id": "c2", "conversations": []}) + b"\n"


def table(messages):
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["Timestamp", "Sender", "Message"])
    writer.writerows([one.iso, one.speaker, one.text] for one in messages)
    return file.getvalue().encode()


def table_with_semicolons(messages):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=";")
    writer.writerow(["role", "content", "created_at", "rating"])
    writer.writerows([one.speaker, one.text, one.seconds, 5] for one in messages)
    return file.getvalue().encode("utf-8-sig")


def transcript(messages):
    return "\n".join(f"{one.speaker} ({one.time:%Y-%m-%d %H:%M:%S}): {one.text}" for one in messages).encode()


def transcript_bold(messages):
    return "\n\n".join(f"**{one.speaker}** ({one.time:%Y-%m-%d %H:%M:%S}): {one.text}" for one in messages).encode()


def transcript_headings(messages):
    body = "\n\n".join(f"## {one.speaker} ({one.time:%Y-%m-%d %H:%M:%S})\n\n{one.text}" for one in messages)
    return f"# A chat\n\n{body}\n".encode()


def whatsapp_iphone(messages):
    notice = f"[{messages[0].time:%d.%m.%y, %H:%M:%S}] user: \u200eMessages and calls are end-to-end encrypted.\n"
    return (
        notice + "\n".join(f"[{one.time:%d.%m.%y, %H:%M:%S}] {one.speaker}: {one.text}" for one in messages)
    ).encode()


def whatsapp_arabic(messages):
    digits = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    halves = ["م" if one.time.hour >= 12 else "ص" for one in messages]
    stamps = [f"\u200f{one.time:%d}\u200f/{one.time:%m}\u200f/{one.time:%Y}، {one.time:%I:%M}" for one in messages]
    heads = [f"{stamp} {half}".translate(digits) for stamp, half in zip(stamps, halves, strict=True)]
    return "\n".join(f"{head} - {one.speaker}: {one.text}" for head, one in zip(heads, messages, strict=True)).encode()


def whatsapp_android(messages):
    notice = f"{messages[0].time:%d/%m/%Y, %H:%M} - Messages and calls are end-to-end encrypted.\n"
    return (notice + "\n".join(f"{one.time:%d/%m/%Y, %H:%M} - {one.speaker}: {one.text}" for one in messages)).encode()


def chat_messages(messages):
    return dumped([{"role": one.speaker, "content": one.text, "created_at": one.iso} for one in messages])


def chat_messages_lines(messages):
    parts = [[{"type": "text", "text": one.text}] for one in messages]
    said = [
        {"role": one.speaker, "content": part, "timestamp": one.seconds}
        for one, part in zip(messages, parts, strict=True)
    ]
    return b"\n".join(map(dumped, said)) + b"\n"


def open_webui(messages, *, listed=True):
    said = [
        {"id": f"m{at}", "parentId": f"m{at - 1}" if at else None, "childrenIds": [f"m{at + 1}"], "role": one.speaker,
         "content": one.text, "timestamp": one.seconds, "models": ["m"]}
        for at, one in enumerate(messages)
    ]  # fmt: skip
    said[-1]["childrenIds"] = []
    history = {"messages": {one["id"]: one for one in said}, "currentId": said[-1]["id"]}
    inner = {
        "id": "",
        "title": "T",
        "models": ["m"],
        "history": history,
        "messages": said if listed else [],
        "tags": [],
    }
    return dumped([{"id": "c1", "user_id": "u", "title": "T", "chat": inner, "updated_at": 1, "created_at": 1}])


def open_webui_history(messages):
    return open_webui(messages, listed=False)


def librechat(messages, *, recursive=False):
    said = [
        {"messageId": f"m{at}", "parentMessageId": f"m{at - 1}" if at else "00000000-0000-0000-0000-000000000000",
         "conversationId": "c1", "sender": "User" if one.speaker == "user" else "GPT-4", "text": one.text,
         "isCreatedByUser": one.speaker == "user", "createdAt": one.iso.replace("+00:00", ".000Z"), "children": []}
        for at, one in enumerate(messages)
    ]  # fmt: skip
    if recursive:
        for one, below in pairwise(said):
            one["children"] = [below]
    return dumped(
        {"conversationId": "c1", "endpoint": "openAI", "title": "T", "exportAt": "12:00", "branches": recursive,
         "recursive": recursive, "options": {}, "messages": said[:1] if recursive else said}
    )  # fmt: skip


def librechat_tree(messages):
    return librechat(messages, recursive=True)


def turns(messages):
    return b"\n".join(dumped({"speaker": one.speaker, "text": one.text, "time": one.iso}) for one in messages)


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


WRITERS = {
    "chatgpt": chatgpt, "claude": claude, "telegram": telegram, "telegram page": telegram_page, "slack": slack,
    "slack blocks": slack_blocks, "discord": discord, "discord-package": discord_package,
    "discord-package csv": discord_package_csv, "messenger": messenger, "messenger encrypted": messenger_encrypted,
    "gemini": gemini, "gemini page": gemini_page, "mem0": mem0, "sharegpt": sharegpt, "sharegpt lines": sharegpt_lines,
    "csv": table, "csv semicolons": table_with_semicolons, "transcript": transcript, "transcript bold": transcript_bold,
    "transcript headings": transcript_headings, "whatsapp iphone": whatsapp_iphone, "whatsapp arabic": whatsapp_arabic,
    "whatsapp android": whatsapp_android, "messages": chat_messages, "messages lines": chat_messages_lines,
    "messages open webui": open_webui, "messages open webui history": open_webui_history,
    "messages librechat": librechat, "messages librechat tree": librechat_tree, "turns": turns,
}  # fmt: skip

NOON = datetime(2024, 3, 22, 12, tzinfo=timezone.utc)
SAMPLE = [
    Message("user", "I moved to Lyon & like it.", NOON),
    Message("assistant", "Félicitations! \U0001f389", NOON.replace(minute=1)),
    Message("user", "Merci, à bientôt.", NOON.replace(minute=2)),
    Message("assistant", "See you.", NOON.replace(minute=3)),
]
