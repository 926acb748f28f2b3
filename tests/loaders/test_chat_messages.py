"""Messages in the forms of providers and frameworks: who said what, and which of them are the same."""

# ruff: noqa: E501 - a form a line

import json
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.loaders.chat_messages import read_message

PICTURE = b"\x89PNG" + bytes(range(90))
BASE64 = b64encode(PICTURE).decode()
URL = f"data:image/png;base64,{BASE64}"
SHOWN = "[picture, image/png, 94 bytes]"
ARGUMENTS = '{"city": "Porto"}'
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
CALLED = 'weather({"city": "Porto"})'
DUMPED = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}


def part(text: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"content": text, "part_kind": kind, "timestamp": "2024-03-12T18:20:00Z", **more}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"{kind}_1", "status": "completed", **more}


def invoked(**more: Any) -> dict[str, Any]:
    return {"toolCallId": "c1", "input": {"city": "Porto"}, "state": "output-available", **more}


FORMS: list[tuple[dict[str, Any], str, str]] = [
    # chat completions of OpenAI, and Ollama
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "assistant", CALLED),
    ({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Porto"}}}]}, "assistant", CALLED),
    ({"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}, "assistant", "I cannot."),
    ({"role": "assistant", "content": None, "audio": {"id": "a", "data": BASE64, "transcript": "Hello."}}, "assistant", f"Hello.\n{SHOWN}"),
    ({"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}}]}, "user", "[audio, audio/mp3, 4 bytes]"),
    ({"role": "user", "content": [{"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{BASE64}"}}]}, "user", "[file, a.pdf, application/pdf, 94 bytes]"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/u/cat.jpg?sig=abc"}}]}, "user", "[picture, cat.jpg]"),
    ({"role": "user", "content": "Look", "images": [BASE64]}, "user", f"Look\n{SHOWN}"),
    ({"role": "user", "content": "Look", "images": [PICTURE]}, "user", f"Look\n{SHOWN}"),
    ({"role": "tool", "tool_name": "weather", "content": {"temp": 14}}, "tool", '{"temp": 14}'),
    ({"id": "msg_1", "created_at": 1699017614, "role": "user", "content": [{"type": "text", "text": {"value": "How?", "annotations": []}}]}, "user", "How?"),
    # items of Responses
    (item("message", role="assistant", content=[{"type": "output_text", "text": "Hi.", "annotations": [], "logprobs": []}]), "assistant", "Hi."),
    (item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]), "assistant", "[reasoning]"),
    (item("function_call_output", call_id="c1", output=[{"type": "input_text", "text": "noon"}]), "tool", "noon"),
    (item("web_search_call", action={"type": "search", "query": "ferry"}), "assistant", 'web_search_call({"type": "search", "query": "ferry"})'),
    (item("file_search_call", queries=["rent"], results=[{"filename": "a.pdf", "text": "Rent is 900."}]), "assistant", 'file_search_call(["rent"]) -> Rent is 900.'),
    (item("mcp_call", server_label="s", name="weather", arguments=ARGUMENTS, output="14"), "assistant", f"{CALLED} -> 14"),
    (item("computer_call", action={"type": "click", "x": 1, "y": 2}), "assistant", 'computer_call({"type": "click", "x": 1, "y": 2})'),
    (item("computer_call_output", output={"type": "computer_screenshot", "image_url": URL}), "tool", SHOWN),
    (item("code_interpreter_call", code="print(1)", container_id="k", outputs=[{"type": "logs", "logs": "1"}]), "assistant", "code_interpreter_call(print(1)) -> logs: 1"),
    (item("image_generation_call", action="generate", revised_prompt="a cat", result=BASE64), "assistant", f"image_generation_call(a cat) -> {SHOWN}"),
    (item("custom_tool_call", name="run", input="ls"), "assistant", "run(ls)"),
    (item("mcp_approval_request", name="weather", arguments=ARGUMENTS), "assistant", CALLED),
    (item("nothing_known", note="The tide is high.", level=3), "tool", "nothing_known: The tide is high., level 3"),
    (item("hologram_call", scene="a red cube"), "assistant", "hologram_call(a red cube)"),
    (item("item_reference"), "tool", "[item_reference]"),
    # blocks of Anthropic
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Let me look."}, {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Porto"}}]}, "assistant", f"Let me look.\n{CALLED}"),
    ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "Gusts."}]}]}, "tool", "Gusts."),
    ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "I live in Oslo."}, {"type": "text", "text": "And now?"}]}, "user", "> I live in Oslo.\nAnd now?"),
    ({"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "t", "content": [{"type": "web_search_result", "url": "https://x.example", "title": "Tides", "encrypted_content": "QUJD"}]}]}, "assistant", "https://x.example, Tides"),
    ({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}}]}, "user", SHOWN),
    ({"role": "user", "content": [{"type": "document", "title": "Lease", "source": {"type": "text", "media_type": "text/plain", "data": "Rent is 900."}}]}, "user", "Rent is 900.\n[file, Lease, text/plain]"),
    # contents of Gemini, Bedrock and Cohere
    ({"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Hi."}, {"functionCall": {"name": "weather", "args": {"city": "Porto"}}}]}, "assistant", f"Hi.\n{CALLED}"),
    ({"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"output": "Sunny."}}}]}, "tool", "Sunny."),
    ({"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": urlsafe_b64encode(PICTURE).decode()}}]}, "user", SHOWN),
    ({"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "print(1)"}}, {"codeExecutionResult": {"outcome": "OK", "output": "1"}}]}, "assistant", "print(1)\n1"),
    ({"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}, "assistant", "Hi."),
    ({"parts": [{"text": "Hi."}]}, "user", "Hi."),
    ({"parts": [{"functionResponse": {"name": "weather", "response": {"output": "Sunny."}}}]}, "tool", "Sunny."),
    ({"role": "assistant", "content": [{"text": "Hi."}, {"toolUse": {"toolUseId": "t", "name": "weather", "input": {"city": "Porto"}}}]}, "assistant", f"Hi.\n{CALLED}"),
    ({"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}, {"text": "Hi."}]}, "assistant", "Hi."),
    ({"role": "tool", "tool_call_id": "c1", "content": [{"type": "document", "document": {"id": "1", "data": '{"temp": 14}'}}]}, "tool", '{"temp": 14}\n[file]'),
    ({"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"json": {"temp": 14}}]}}]}, "tool", '{"temp": 14}'),
    # messages of the AI SDK
    ({"id": "m1", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "Hm."}, invoked(type="tool-weather", output={"temp": 14}), {"type": "text", "text": "It is 14."}]}, "assistant", f'{CALLED} -> {{"temp": 14}}\nIt is 14.'),
    ({"id": "m1", "role": "assistant", "parts": [invoked(type="dynamic-tool", toolName="weather", errorText="No network.")]}, "assistant", f"{CALLED} -> No network."),
    ({"id": "m1", "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "filename": "a.png", "url": URL}]}, "user", "[picture, a.png, image/png, 94 bytes]"),
    ({"id": "m1", "role": "assistant", "content": "It is 14.", "toolInvocations": [{"toolCallId": "c1", "toolName": "weather", "args": {"city": "Porto"}, "result": "14"}]}, "assistant", f"It is 14.\n{CALLED} -> 14"),
    ({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "weather", "output": {"type": "text", "value": "14"}}]}, "tool", "14"),
    # what LangChain, Pydantic AI, LlamaIndex and agents of A2A dump
    ({"type": "human", "content": "Hi.", **DUMPED}, "user", "Hi."),
    ({"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": [{"name": "weather", "args": {"city": "Porto"}, "id": "c1", "type": "tool_call"}], **DUMPED}}, "assistant", CALLED),
    ({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessageChunk"], "kwargs": {"content": "Hi."}}, "assistant", "Hi."),
    ({"kind": "request", "parts": [part("Be brief.", "system-prompt"), part("Hi.", "user-prompt")], "instructions": "Be brief."}, "user", "Hi."),
    ({"kind": "request", "parts": [part("Be brief.", "system-prompt")]}, "system", "Be brief."),
    ({"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "weather", "content": {"temp": 14}}]}, "tool", '{"temp": 14}'),
    ({"kind": "response", "parts": [part("Hm.", "thinking"), part("Hi.", "text"), {"part_kind": "tool-call", "tool_name": "weather", "args": ARGUMENTS}]}, "assistant", f"Hi.\n{CALLED}"),
    ({"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Look"}, {"block_type": "image", "image": BASE64, "image_mimetype": "image/png"}]}, "user", f"Look\n{SHOWN}"),
    ({"kind": "message", "messageId": "5", "role": "agent", "parts": [{"kind": "text", "text": "Hi."}, {"kind": "file", "file": {"bytes": BASE64, "mimeType": "image/png"}}]}, "assistant", f"Hi.\n{SHOWN}"),
    ({"from": "human", "value": "Hi."}, "user", "Hi."),
    ({"sender": "User", "text": "Hi.", "isCreatedByUser": True, "model": "m", "content": []}, "user", "Hi."),
    # whole replies, as a client returns them
    ({"object": "chat.completion", "created": 1, "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}}]}, "assistant", "Hi."),
    ({"object": "response", "output": [item("reasoning", summary=[]), item("message", role="assistant", content=[{"type": "output_text", "text": "Hi."}]), item("function_call", name="weather", arguments=ARGUMENTS)]}, "assistant", f"Hi.\n{CALLED}"),
    ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finish_reason": "STOP"}], "model_version": "m"}, "assistant", "Hi."),
]  # fmt: skip


@pytest.mark.parametrize(("message", "role", "text"), FORMS)
def test_a_message_of_any_form_is_read(message, role, text):
    read = read_message(message)
    assert (read.role, read.speaker, read.text) == (role, role, text)
    again = read_message(json.loads(read.raw))
    assert (again.text, again.said, again.raw) == (read.text, read.said, read.raw)
    assert BASE64 not in read.raw


def test_forms_that_read_the_same_are_the_same_content_and_no_others():
    read = [read_message(message) for message, _, text in FORMS if "[" not in text]
    contents = {(one.role, one.text): one.said for one in read}
    assert all(contents[one.role, one.text] == one.said for one in read)
    assert len(set(contents.values())) == len(contents) < len(read)


@dataclass
class Part:
    content: str
    part_kind: str = "text"
    timestamp: datetime = datetime(2024, 3, 12, tzinfo=timezone.utc)


@dataclass
class Response:
    parts: list[Part]
    kind: str = "response"


@dataclass
class Dumps:
    held: dict[str, Any] = field(default_factory=dict)

    def model_dump(self) -> dict[str, Any]:
        return self.held


BLUE = {"role": "assistant", "content": "Blue."}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
SAME: list[tuple[dict[str, Any], Any]] = [
    (BLUE, {"content": "Blue.", "role": "assistant", "refusal": None, "annotations": [], "audio": None, "tool_calls": None}),
    (BLUE, {"role": "assistant", "content": [{"type": "text", "text": "Blue."}]}),
    (BLUE, item("message", role="assistant", content=[{"type": "output_text", "text": "Blue.", "annotations": []}])),
    (BLUE, {"role": "model", "parts": [{"text": "Blue."}]}),
    (BLUE, {"id": "m9", "role": "assistant", "parts": [{"type": "text", "text": "Blue.", "state": "done"}]}),
    (BLUE, {"type": "ai", "content": "Blue.", "id": "run-1", "usage_metadata": {"total_tokens": 3}}),
    (BLUE, Response([Part("Blue.")])),
    (BLUE, Dumps({"role": "assistant", "content": "Blue.", "refusal": None})),
    (BLUE, {"role": "assistant", "content": [Dumps({"type": "text", "text": "Blue.", "citations": None})]}),
    (BLUE, {"role": "assistant", "name": "assistant", "content": " Blue.\n", "created_at": 1699017614}),
    (CALLS, {"role": "assistant", "content": "", "function_call": {"arguments": '{"city":"Porto"}', "name": "weather"}}),
    (CALLS, {"type": "function_call", "call_id": "c7", "name": "weather", "arguments": ARGUMENTS}),
    (CALLS, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Porto"}}]}),
    (CALLS, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Porto"}}], "tool_calls": [CALL]}),
    (CALLS, {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": {"city": "Porto"}, "id": "c1"}]}),
    ({"role": "tool", "tool_call_id": "a", "content": '{"a": 1, "b": 2}'}, {"role": "tool", "content": {"b": 2, "a": 1}}),
    ({"role": "tool", "tool_call_id": "a", "content": "14"}, {"type": "tool", "name": "weather", "tool_call_id": "b", "content": "14"}),
    ({"role": "developer", "content": "Be kind."}, {"type": "system", "content": "Be kind."}),
    ({"role": "user", "content": "Caf\u00e9.\r\nBye."}, {"role": "user", "content": "Cafe\u0301.\nBye."}),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/a.jpg?sig=1"}}]}, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/a.jpg?sig=2"}}]}),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": URL}}]}, {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}]}),
]  # fmt: skip
OTHER: list[dict[str, Any]] = [
    {"role": "user", "content": "Blue."},
    {"role": "assistant", "name": "mira", "content": "Blue."},
    {"role": "assistant", "content": "Red."},
    {"role": "assistant", "content": "Blue.", "tool_calls": [CALL]},
    item("mcp_call", name="weather", arguments=ARGUMENTS, output="14"),
    {"role": "assistant", "content": [{"type": "text", "text": "Blue."}, {"type": "image_url", "image_url": {"url": URL}}]},
]  # fmt: skip


@pytest.mark.parametrize(("message", "copy"), SAME)
def test_the_same_content_in_another_form_is_known_as_the_same(message, copy):
    assert read_message(message).said == read_message(copy).said


@pytest.mark.parametrize("other", OTHER)
def test_another_role_name_word_call_or_picture_is_another_content(other):
    assert read_message(other).said not in (read_message(BLUE).said, read_message(CALLS).said)


@pytest.mark.parametrize(
    ("message", "id_"),
    [
        ({"id": "m1", "role": "user", "parts": []}, "m1"),
        ({"id": 17, "role": "user", "content": "Hi."}, "17"),
        ({"type": "ai", "data": {"content": "Hi.", "id": "run-1"}}, "run-1"),
        ({"lc": 1, "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Hi.", "type": "human"}}, None),
        ({"id": "", "role": "user", "content": "Hi."}, None),
        ({"id": "__fake_id__", "type": "message", "role": "assistant", "content": []}, None),
        ({"role": "tool", "tool_call_id": "c1", "content": "14"}, None),
        ({"type": "function_call_output", "call_id": "c1", "output": "14"}, None),
    ],
)
def test_the_id_of_a_message_is_its_own(message, id_):
    assert read_message(message).id == id_


@pytest.mark.parametrize("time", [{"created_at": 1710267600}, {"timestamp": 1710267600000}, {"createdAt": "2024-03-12T18:20:00.000Z"}])  # fmt: skip
def test_the_time_of_a_message_is_read_in_seconds_milliseconds_or_iso(time):
    assert read_message({"role": "user", "content": "Hi.", **time}).time == datetime(2024, 3, 12, 18, 20, tzinfo=timezone.utc)  # fmt: skip


@pytest.mark.parametrize("message", [{}, {"role": "tool", "content": ""}, item("reasoning", summary=[]), {"role": "user", "content": [{"type": "image", "image": URL}]}])  # fmt: skip
def test_a_message_without_text_says_so(message):
    read = read_message(message)
    assert read.note == "no text"
    assert read.text.startswith("[")


def test_a_picture_pasted_into_a_text_is_named_in_its_place():
    pasted = f"See ![]({f'data:image/png;base64,{b64encode(PICTURE * 40).decode()}'}) here."
    assert read_message({"role": "user", "content": pasted}).text == "See ![]([picture, image/png, 3.8 kB]) here."


@pytest.mark.parametrize("text", [BASE64, b64encode(PICTURE * 2000).decode(), "data:text", "deadbeef" * 20])
def test_a_text_that_looks_like_data_is_kept_as_it_was_said(text):
    said = read_message({"role": "user", "content": text})
    assert said.text == text
    assert json.loads(said.raw)["content"] == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.sampled_from(
        sorted({key for message, *_ in FORMS for key in str(message).split("'")[1::2]})), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
KEYS = ("role", "content", "parts", "type", "kind", "tool_calls", "data", "images", "audio", "message", "kwargs", "lc", "id", "time", "name", "author", "output")  # fmt: skip


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6))
def test_any_mapping_is_a_message_that_is_read_again_as_the_same(message):
    read = read_message(message)
    assert read.text.strip()
    assert read.role in ("user", "assistant", "system", "tool")
    again = read_message(json.loads(read.raw))
    assert (again.raw, again.said, again.text) == (read.raw, read.said, read.text)
