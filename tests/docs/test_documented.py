"""Everything public is documented: names, parameters, commands, options, extras, variables, errors, modules, pages."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import evimem
from evimem.cli.arguments import COMMANDS
from scripts import python_reference as reference
from scripts.build_site import navigation, pages, relink, summary
from tests.docs.blocks import ROOT, extras

DOCS = ROOT / "docs"
PACKAGE = Path(evimem.__file__).parent
OF_THE_SYSTEM = {"COLUMNS", "TERM", "TZ"}  # variables that every program reads


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows(text: str) -> set[str]:
    """Return the names in backquotes in the first column of the tables of a text."""
    first = re.findall(r"^\| ([^|]*)\|", text, re.MULTILINE)
    return {name for cell in first for name in re.findall(r"`([\w.-]+)`", cell)}


def variables(source: str) -> set[str]:
    """Return the environment variables that a source names: what it asks `environ` for, and what it tells users of."""
    names = {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+", node.value)
    }
    return names if "environ" in source else set()


def test_every_public_name_has_a_place_in_the_reference() -> None:
    assert set(evimem.__all__) - set(reference.placed()) == {"Memory", "__version__"}


def test_every_verb_of_a_memory_has_a_place_in_the_reference() -> None:
    verbs = {f"Memory.{name}" for name, value in vars(evimem.Memory).items() if name[0] != "_" and callable(value)}
    assert verbs - set(reference.placed()) == set()


def test_every_parameter_is_described_in_the_reference() -> None:
    entries = [one for _, _, names in reference.PAGES.values() for one in reference.entries(names)]
    held = [one for entry in entries for one in (entry, *entry.members)]
    assert len(held) > 100
    assert {one.name: lacking for one in held if (lacking := reference.undescribed(one.value))} == {}


def test_a_parameter_without_a_word_is_found() -> None:
    def call(told: int, untold: int) -> None:
        """Call.

        Args:
            told: A number.
        """

    assert reference.undescribed(call) == ["untold"]


def test_every_command_and_option_says_what_it_does() -> None:
    for name in COMMANDS:
        own = reference.command_parser(name)
        assert own.description, name
        assert [one.dest for one in reference.options_of(own) if not one.help] == []


def test_every_command_has_a_section_in_the_reference() -> None:
    text = reference.commands_page()
    assert [name for name in COMMANDS if f"## {name} {{#{name}}}" not in text] == []


def test_every_extra_is_on_the_page_about_installing_and_no_other() -> None:
    section = page("install.md").partition("## Extras")[2]
    assert rows(section) == extras()


def test_every_environment_variable_is_on_the_page_about_settings() -> None:
    named = {one for path in PACKAGE.rglob("*.py") for one in variables(path.read_text(encoding="utf-8"))}
    assert "EVIMEM_KEY" in named
    assert named - rows(page("settings.md")) - OF_THE_SYSTEM == set()


def test_an_environment_variable_is_found_in_a_source() -> None:
    assert variables('import os\nKEY = os.environ.get("A_B")\n') == {"A_B"}


def test_every_error_is_on_the_page_about_troubles_and_no_other() -> None:
    section = page("troubleshooting.md").partition("## Errors")[2].partition("\n## ")[0]
    assert rows(section) == {error.__name__ for error in reference.errors()}


def test_every_adapter_has_a_page_and_a_place_in_the_reference() -> None:
    inner = {"message_log", "mcp_server", "mcp_values", "user_tokens", "__init__"}
    adapters = {path.stem for path in (PACKAGE / "adapters").glob("*.py")} - inner
    assert {f"adapters.{name}" for name in adapters} <= set(reference.MODULES)
    written = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert [name for name in adapters if f"evimem.adapters.{name}" not in written] == []


def test_every_format_of_an_import_is_on_its_page() -> None:
    text = inspect.getdoc(reference.function_of(evimem.Memory)) or ""
    help_text = next(
        one.help for one in reference.options_of(reference.command_parser("ingest")) if one.dest == "format"
    )
    formats = set(re.findall(r"[a-z0-9-]+", (help_text or "").partition("FILE is: ")[2])) - {"or"}
    assert text
    assert len(formats) > 10
    assert formats <= set(re.findall(r"`([\w-]+)`", page("importing.md"))) | {"turns"}


def test_the_navigation_has_every_page_once() -> None:
    listed = [path for _, _, path in navigation()]
    assert sorted(listed) == sorted(pages())


def test_every_page_begins_with_a_title_and_a_sentence() -> None:
    made = pages()
    assert [path for path, text in made.items() if not text.startswith("# ")] == []
    assert [path for path, text in made.items() if len(summary(text).split()) < 3] == []


@pytest.mark.parametrize(
    ("written", "linked"),
    [
        ("[a](../SECURITY.md#times)", "[a](security.md#times)"),
        ("[a](operations.md)", "[a](operations.md)"),
        ("[a](../tests/golden)", "a (`tests/golden`)"),
        ("![a](pictures/answer.png)", "![a](pictures/answer.png)"),
        ("`[a](../tests/golden)`", "`[a](../tests/golden)`"),
        ("[a](https://example.org/x)", "[a](https://example.org/x)"),
    ],
)
def test_a_link_leads_to_a_page_of_the_site_or_is_plain_text(written: str, linked: str) -> None:
    origin = {"security.md": "SECURITY.md", "operations.md": "docs/operations.md"}
    assert relink(written, "docs/files.md", "files.md", origin) == linked


def test_the_readme_has_at_most_seven_hundred_words() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700
