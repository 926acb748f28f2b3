"""Without its framework an adapter says which extra brings it; the command line says so too, and makes no file."""

import importlib
import sys

import pytest

from evimem.__main__ import main
from evimem.errors import MissingExtra

NEEDS = [
    ("mcp_server", "mcp", "mcp"), ("langchain", "langchain_core", "langchain"),
    ("langgraph", "langgraph", "langgraph"), ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
    ("llama_index", "llama_index", "llama-index"), ("otel", "opentelemetry", "otel"), ("adk", "google", "adk"),
    ("agent_framework", "agent_framework", "agent-framework"),
]  # fmt: skip


@pytest.fixture
def without(monkeypatch):
    """Have a package missing for an adapter, which is imported anew."""

    def without(adapter: str, package: str) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, f"evimem.adapters.{adapter}", raising=False)

    return without


@pytest.mark.parametrize(("adapter", "package", "extra"), NEEDS)
def test_an_adapter_names_the_extra_that_it_needs(without, adapter, package, extra):
    without(adapter, package)
    with pytest.raises(MissingExtra, match=rf"pip install 'evimem\[{extra}\]'"):
        importlib.import_module(f"evimem.adapters.{adapter}")


def test_the_server_names_its_extra_and_makes_no_folder(without, tmp_path, capsys, monkeypatch):
    without("otel", "starlette")
    for name in [name for name in sys.modules if name.startswith("evimem.server")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["serve", "--pool", str(tmp_path / "users")]) == 6
    assert capsys.readouterr().err == "evimem: the server needs the 'server' extra: pip install 'evimem[server]'\n"
    assert [*tmp_path.iterdir()] == []


def test_the_command_says_so_in_one_line_and_makes_no_file(without, tmp_path, capsys):
    without("mcp_server", "mcp")
    assert main(["mcp", str(tmp_path / "m.evimem")]) == 6
    assert capsys.readouterr().err == "evimem: the MCP server needs the 'mcp' extra: pip install 'evimem[mcp]'\n"
    assert [*tmp_path.iterdir()] == []
