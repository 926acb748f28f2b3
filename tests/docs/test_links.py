"""Every link of a Markdown file of the project leads to a file that is there, and to a heading in it."""

import re
from pathlib import Path

import pytest

from scripts.build_site import CODE, LINK, pages
from tests.docs.blocks import ROOT

GENERATED = {f"docs/{path}" for path in pages() if path.startswith("reference/")}
FILES = [
    ROOT / name
    for name in ("README.md", "SECURITY.md", "SUPPORT.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
]
FILES += [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "README.md",
    ROOT / "benchmarks" / "RESEARCH.md",
]


def anchors(text: str) -> set[str]:
    """Return the anchors of a text's headings, as the site and code hosts make them."""
    found = set(re.findall(r"\{#([\w.-]+)\}", text))
    for heading in re.findall(r"^#+ (.*?)(?: \{#.*\})?$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-"))
    return found


def text_of(file: Path) -> str:
    name = file.relative_to(ROOT).as_posix()
    return pages()[name.removeprefix("docs/")] if name in GENERATED else file.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(file: Path) -> None:
    prose = "".join(part for at, part in enumerate(CODE.split(file.read_text(encoding="utf-8"))) if not at % 2)
    broken = []
    for found in LINK.finditer(prose):
        target, _, anchor = found["target"].partition("#")
        if ":" in found["target"]:
            continue
        led = (file.parent / target).resolve() if target else file
        there = led.exists() or (led.is_relative_to(ROOT) and led.relative_to(ROOT).as_posix() in GENERATED)
        if not there or (anchor and led.suffix == ".md" and anchor not in anchors(text_of(led))):
            broken.append(found["target"])
    assert broken == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_files_that_a_newcomer_is_sent_to_exist(name: str) -> None:
    named = re.findall(r"`((?:evimem|tests|benchmarks)/[\w./-]*\.\w+)`", (ROOT / name).read_text(encoding="utf-8"))
    assert named
    assert [one for one in named if not (ROOT / one).exists()] == []
