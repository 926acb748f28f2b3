"""The server that the active suite of MCP's conformance tests is run against: ours, with what the suite asks for.

`python -m tests.adapters.conformance_server` prints its URL. The tools, resources and prompts called test_... are those
that the suite's scenarios describe; server, transport, schemas, completion and errors are those of `evimem mcp`.
"""

import asyncio
import json
import socket
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import AudioContent, EmbeddedResource, ImageContent, SamplingMessage, TextContent, TextResourceContents

import evimem
from evimem.adapters.mcp_server import MemoryTools, Opening, build

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = b64encode(b"RIFF&\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\2\0\0\0\0\0").decode()
IMAGE = ImageContent(type="image", data=PNG, mime_type="image/png")
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
TITLED = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
CHOICES = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}


def quoted(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


async def asked(ctx: Context[Any, Any], message: str, fields: dict[str, Any], required: list[str]) -> str:
    schema = {"type": "object", "properties": fields, "required": required}
    result = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return f"action={result.action}, content={json.dumps(result.content)}"


async def test_simple_text():
    """A text."""
    return "This is a simple text response for testing."


async def test_image_content():
    """An image."""
    return IMAGE


async def test_audio_content():
    """A sound."""
    return AudioContent(type="audio", data=WAV, mime_type="audio/wav")


async def test_embedded_resource():
    """A resource."""
    return quoted("test://embedded-resource", "This is an embedded resource content.")


async def test_multiple_content_types():
    """Of each one."""
    data = quoted("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [TextContent(type="text", text="Multiple content types test:"), IMAGE, data]


async def test_error_handling():
    """An error."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx):
    """Progress."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return "done"


async def test_sampling(prompt, ctx):
    """A request to the client's model."""
    said = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result = await ctx.session.create_message([said], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {result.content.text if isinstance(result.content, TextContent) else ''}"


async def test_elicitation(message, ctx):
    """A question to the user."""
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    return f"User response: {await asked(ctx, message, fields, ['username', 'email'])}"


async def test_elicitation_sep1034_defaults(ctx):
    """A question with defaults."""
    return f"Elicitation completed: {await asked(ctx, 'Who?', DEFAULTS, [])}"


async def test_elicitation_sep1330_enums(ctx):
    """A question with choices."""
    return f"Elicitation completed: {await asked(ctx, 'Which?', CHOICES, [])}"


TOOLS: list[Callable[..., Awaitable[Any]]] = [
    test_simple_text, test_image_content, test_audio_content, test_embedded_resource, test_multiple_content_types,
    test_error_handling, test_tool_with_progress, test_sampling, test_elicitation,
    test_elicitation_sep1034_defaults, test_elicitation_sep1330_enums,
]  # fmt: skip


def add_pages(server: MCPServer[Any]) -> None:
    """Add the suite's resources and prompts."""

    @server.resource("test://static-text", description="A text.", mime_type="text/plain")
    def text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", description="An image.", mime_type="image/png")
    def binary() -> bytes:
        return b64decode(PNG)

    @server.resource("test://template/{id}/data", description="By id.", mime_type="application/json")
    def by_id(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    @server.resource("test://watched-resource", description="A text that is watched.", mime_type="text/plain")
    def watched() -> str:
        return "watched"

    @server.prompt(description="A text.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="A text with arguments.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A resource.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
        data = quoted(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(data), UserMessage("Please process the embedded resource above.")]

    @server.prompt(description="An image.")
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]


def fixture(path: Path) -> MCPServer[Any]:
    """Return our server for a memory, with what the suite asks for."""
    opening = Opening(lambda: evimem.open_async(path))
    server = build(MemoryTools(opening.lend, ""), allow_forget=True)
    for tool in TOOLS:
        server.add_tool(tool, structured_output=False)
    add_pages(server)
    return server


async def serve(folder: Path) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stderr.write(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
    sys.stderr.flush()
    app = fixture(folder / "m.evimem").streamable_http_app()
    await uvicorn.Server(uvicorn.Config(app, log_level="critical")).serve([listening])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(serve(Path(folder)))
