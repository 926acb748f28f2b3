"""The page of checks names tests that exist, and adapters stay short."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "tests/adapters/README.md").read_text(encoding="utf-8")
FRAMEWORKS = ("adk", "agent_framework", "langchain", "langgraph", "llama_index", "openai_agents", "pydantic_ai")


def test_every_check_of_the_page_exists():
    written = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    known = set(re.findall(r"(?:def|class) (\w+)", written)) | {path.stem for path in (ROOT / "tests").rglob("*.py")}
    named = set(re.findall(r"\b(?:test_\w+|Test\w+)\b", PAGE))
    assert len(named) > 15
    assert [name for name in sorted(named) if not any(one.startswith(name) for one in known)] == []
    files = re.findall(r"\b(?:tests|benchmarks)/[\w./]+\w", PAGE)
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_the_adapter_of_a_framework_with_all_that_only_it_needs_is_short():
    sizes = {name: len((ROOT / f"evimem/adapters/{name}.py").read_text().splitlines()) for name in FRAMEWORKS}
    assert {name: size for name, size in sizes.items() if size > 220} == {}
