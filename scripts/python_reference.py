"""Make the pages of the Python reference and of the command line from docstrings, signatures and parsers.

`pages()` returns Markdown by its path below `docs/`; `scripts/build_site.py` writes it where the site is built.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import evimem
from evimem.cli.arguments import COMMANDS, Exit, make_parser

PACKAGE = Path(evimem.__file__).parent
SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Yields):\n", re.MULTILINE)
ITEM = re.compile(r"^    (\*{0,2}[\w, *]+): ?(.*(?:\n(?:     .*|(?=\n     )))*)", re.MULTILINE)
CODE_LINE = re.compile(r"(?:\w+ = |await |with |from \w+ import |import )?[\w.]+\(.*")
STATEMENT = re.compile(
    r" \([EGMR]\d+(?:(?:, | to | and )[EGMR]\d+)*\)"
)  # numbers of the paper's statements, which tests name
SEE = re.compile(r"(?:[Ss]ee|as|of|what|that) `(?:evimem\.)?([\w.]+)`")
PAGES: Mapping[str, tuple[str, str, str]] = {  # the page: its title, its first sentence, its names in order
    "opening": (
        "Open a memory",
        "A memory is opened by path or address, one at a time or from a pool of many users.",
        "open open_async MemoryPool Memory.close Memory.now AsyncMemory",
    ),
    "storing": (
        "Store",
        "Calls that put turns into a memory. A turn is durable when the call returns.",
        "Memory.add Memory.extend Memory.remember Memory.update Memory.import_",
    ),
    "finding": (
        "Find",
        "Calls that read turns and facts. They ask no chat model.",
        "Memory.search Memory.search_facts Memory.facts Memory.turns Memory.turn Memory.context Memory.neighbours "
        "find_times",
    ),
    "answering": (
        "Recall and answer",
        "`block` and `profile` give text for a prompt of your own; `ask` answers, quotes or abstains.",
        "Memory.block Memory.profile Memory.ask Memory.trace Memory.keep_trace replay ask_searcher",
    ),
    "deriving": (
        "Derive facts, and calibrate",
        "Work that can wait: facts, vectors, links, and the fit of probabilities to questions of yours.",
        "Memory.enrich Memory.enrich_batch Memory.estimate Memory.rebuild Memory.reembed Memory.calibrate "
        "Memory.calibration",
    ),
    "keeping": (
        "Keep, move and erase",
        "Erasing, backups, exports, copies between files and servers, and building many memories.",
        "Memory.forget Memory.backup restore copy build Memory.export Memory.rekey Memory.health Memory.check "
        "Memory.stats",
    ),
    "models": (
        "Models, embedders and rerankers",
        "The objects that `open` takes for a chat model, an embedder and a reranker.",
        "OpenAI StaticEmbedder OpenAIEmbedder CallableEmbedder EndpointReranker ModelReranker Reranking",
    ),
    "values": (
        "Values",
        "Calls take and return these frozen values. Each has `to_dict()`, from which `--json` and the server's replies "
        "are made.",
        "Turn Fact FactHit Hit Edge TimeSpan Query Tier Gap Answer Citation Block Budget Trace Usage AddReport "
        "TurnStatus EnrichReport BatchReport Estimate EraseReport Health Stats BuildReport CopyReport RestoreReport "
        "Calibration Labelled Restarted",
    ),
}
ERRORS = "errors"


@dataclass(frozen=True)
class Docstring:
    """A docstring in parts: its text, and the entries of its sections by name.

    Attributes:
        text: The paragraphs before the first section.
        sections: Entries by section: a name and its text each.
        returns: The text of "Returns" or "Yields".
    """

    text: str
    sections: Mapping[str, Mapping[str, str]]
    returns: str = ""


@dataclass
class Entry:
    """A public name with all that its section of a page says.

    Attributes:
        name: The dotted name without the package.
        value: The function or class.
        members: Entries of its own methods.
    """

    name: str
    value: Any
    members: list[Entry] = field(default_factory=list)


def parse_docstring(text: str) -> Docstring:
    """Split a docstring in Google's style into its text and sections."""
    parts = SECTION.split(inspect.cleandoc(text))
    sections: dict[str, dict[str, str]] = {}
    returns = ""
    body = parts[0]
    for name, content in zip(parts[1::2], parts[2::2], strict=True):
        held, _, rest = re.sub(r"\n\n(?=\S)", "\0", content, count=1).partition("\0")
        if name in {"Returns", "Yields"}:
            returns = " ".join(held.split())
        else:
            entries = {
                one.strip(" *"): " ".join(found[2].split())
                for found in ITEM.finditer(held)
                for one in found[1].split(",")
            }
            sections[name] = entries
        body += f"\n\n{rest}" if rest else ""
    return Docstring(body.strip(), sections, returns)


def resolve(dotted: str) -> Any:
    """Return a public object by its dotted name, with or without the package; None where there is none."""
    value: Any = evimem
    for part in dotted.split("."):
        value = getattr(value, part, None)
    return value


def function_of(value: Any) -> Any:
    """Return the function that a property, class method or static method wraps; else the value."""
    if isinstance(value, property):
        return value.fget
    return getattr(value, "__func__", value)


def signature_of(value: Any) -> inspect.Signature | None:
    """Return the signature of a function, or of the class that a caller makes; None of values without one."""
    if inspect.isclass(value) and (issubclass(value, (Exception, Enum)) or value.__name__ in {"Memory", "AsyncMemory"}):
        return None
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


def parameters_of(value: Any) -> list[inspect.Parameter]:
    """Return the parameters that a caller gives."""
    signature = signature_of(value)
    return (
        [] if signature is None else [one for one in signature.parameters.values() if one.name not in {"self", "cls"}]
    )


def described(value: Any, depth: int = 0) -> dict[str, str]:
    """Return the text of each parameter by name: of its own docstring, or of the docstrings that this one refers to."""
    text = inspect.getdoc(value) or ""
    told = dict(parse_docstring(text).sections.get("Args", {}))
    if inspect.isclass(value):
        told |= parse_docstring(text).sections.get("Attributes", {})
        told |= parse_docstring(inspect.getdoc(value.__init__) or "").sections.get("Args", {}) if depth == 0 else {}
    if depth < 2:
        for dotted in SEE.findall(text):
            other = resolve(dotted) or resolve(f"Memory.{dotted}") or resolve(f"MemoryPool.{dotted}")
            if other is not None and other is not value:
                told = described(function_of(other), depth + 1) | told
    return told


def plain(text: str) -> str:
    """Return a sentence as Markdown: angle brackets outside of code are escaped, numbers of statements left out."""
    text = STATEMENT.sub("", text)
    return "".join(
        part if at % 2 else part.replace("<", "&lt;") for at, part in enumerate(re.split(r"(`[^`]*`)", text))
    )


def paragraphs(text: str) -> str:
    """Return the text of a docstring as Markdown; indented lines, and paragraphs of statements alone, are code."""
    made = []
    for one in text.split("\n\n"):
        lines = one.splitlines()
        if lines and all(CODE_LINE.match(line) for line in lines):
            made.append(f"```python\n{one}\n```")
        else:
            made.append("\n".join(line if line.startswith("    ") else plain(line) for line in lines))
    return "\n\n".join(made)


def annotation(value: Any) -> str:
    """Return a type as it is written in source."""
    if value is inspect.Parameter.empty:
        return ""
    return value if isinstance(value, str) else getattr(value, "__name__", str(value))


def parameter_lines(value: Any) -> Iterator[str]:
    """Yield a line a parameter: name, type, default and text."""
    told = described(value)
    for one in parameters_of(value):
        kind = annotation(one.annotation)
        default = "" if one.default is one.empty else f", default `{default_of(one)}`"
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        typed = f" (`{kind}`{default})" if kind else ""
        yield f"- **`{star}{one.name}`**{typed}: {plain(told.get(one.name, ''))}".rstrip()


def default_of(one: inspect.Parameter) -> str:
    """Return a default as short text."""
    if inspect.isfunction(one.default) or inspect.isbuiltin(one.default) or inspect.isclass(one.default):
        return str(one.default.__name__)
    text = repr(one.default).replace("<factory>", "...")
    return text if len(text) <= 40 else f"{text[:37]}..."


def undescribed(value: Any) -> list[str]:
    """Return the parameters of a public object about which neither its docstring nor one it refers to says a word."""
    told, text = described(value), inspect.getdoc(value) or ""
    return [
        one.name for one in parameters_of(value) if not told.get(one.name) and not re.search(rf"\b{one.name}s?\b", text)
    ]


def members_of(name: str, value: Any) -> list[Entry]:
    """Return the public methods of a class that its section describes."""
    if not inspect.isclass(value) or name == "AsyncMemory":
        return []
    found = []
    for attribute, member in vars(value).items():
        wrapped = function_of(member)
        if not attribute.startswith("_") and inspect.isfunction(wrapped) and inspect.getdoc(wrapped):
            found.append(Entry(f"{name}.{attribute}", wrapped))
    return found


def entries(names: str) -> list[Entry]:
    """Return the entries of a page's names."""
    made = []
    for name in names.split():
        value = function_of(resolve(name))
        made.append(Entry(name, value, [] if name.startswith("Memory.") else members_of(name, value)))
    return made


def signature_text(entry: Entry) -> str:
    """Return how an entry is called, a parameter a line where it is long."""
    value, name = entry.value, entry.name
    called = "memory." + name.partition(".")[2] if name.startswith("Memory.") else f"evimem.{name}"
    if name.startswith("MemoryPool."):
        called = "pool." + name.partition(".")[2]
    signature = signature_of(value)
    if signature is None:
        return called
    shown, starred = [], False
    for one in parameters_of(value):
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        default = "" if one.default is one.empty else f"={default_of(one)}"
        starred = starred or one.kind is one.VAR_POSITIONAL
        shown.append({one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "") + one.name + default)
    returned = annotation(signature.return_annotation)
    tail = f" -> {returned}" if returned and not inspect.isclass(value) else ""
    line = f"{called}({', '.join(shown)}){tail}"
    return line if len(line) <= 100 else f"{called}(\n    " + ",\n    ".join(shown) + f",\n){tail}"


def entry_lines(entry: Entry, level: int = 2) -> Iterator[str]:
    """Yield the lines of an entry's section."""
    document = parse_docstring(inspect.getdoc(entry.value) or "")
    title = entry.name.removeprefix("Memory.") if level == 2 else entry.name
    yield f"{'#' * level} {title} {{#{entry.name.lower().replace('.', '-')}}}\n"
    if not isinstance(entry.value, type) or not issubclass(entry.value, (Exception, Enum)):
        yield f"```text\n{signature_text(entry)}\n```\n"
    yield f"{paragraphs(document.text)}\n"
    is_value = inspect.isclass(entry.value) and "Attributes" in document.sections
    if is_value:
        yield from (f"- **`{name}`**: {plain(text)}" for name, text in document.sections["Attributes"].items())
        yield ""
    if parameters_of(entry.value) and not is_value:
        yield "**Parameters**\n"
        yield from parameter_lines(entry.value)
        yield ""
    if document.returns:
        yield f"**Returns** {plain(document.returns)}\n"
    if raised := document.sections.get("Raises"):
        yield "**Raises**\n"
        yield from (f"- [`{name}`](errors.md#{name.lower()}): {plain(text)}" if is_public(name) else
                    f"- `{name}`: {plain(text)}" for name, text in raised.items())  # fmt: skip
        yield ""
    for member in entry.members:
        yield from entry_lines(member, level + 1)


def is_public(name: str) -> bool:
    """Tell whether a name stands in the package's `__all__`."""
    return name in evimem.__all__


def python_pages() -> dict[str, str]:
    """Return the pages of the Python reference by path."""
    made = {}
    for page, (title, says, names) in PAGES.items():
        lines = [line for entry in entries(names) for line in entry_lines(entry)]
        made[f"reference/{page}.md"] = "\n".join([f"# {title}\n", f"{says}\n", *lines])
    made[f"reference/{ERRORS}.md"] = errors_page()
    made["reference/modules.md"] = modules_page()
    made["reference/index.md"] = index_page()
    return made


def errors() -> list[type[Exception]]:
    """Return the public exceptions, each after its base class."""
    found = [value for name in evimem.__all__ if inspect.isclass(value := getattr(evimem, name))]
    return sorted(
        (one for one in found if issubclass(one, Exception)), key=lambda one: [x.__name__ for x in one.__mro__][::-1]
    )


def errors_page() -> str:
    """Return the page of exceptions, as a tree."""
    lines = [
        "# Errors\n",
        "Every exception that evimem defines is an `EvimemError`. An abstention is no error. What to do about each: "
        "[troubleshooting](../troubleshooting.md#errors).\n",
    ]
    for error in errors():
        base = error.__mro__[1].__name__
        lines += [f"## {error.__name__} {{#{error.__name__.lower()}}}\n", f"A kind of `{base}`.\n"]
        document = parse_docstring(error.__doc__ or "")
        lines += [f"{paragraphs(document.text)}\n"]
        lines += [f"- **`{name}`**: {plain(text)}" for name, text in document.sections.get("Attributes", {}).items()]
        lines += [""]
    return "\n".join(lines)


def first_sentence(value: Any) -> str:
    """Return the first line of a docstring as one table cell."""
    return plain((inspect.getdoc(value) or "").partition("\n")[0]).replace("|", "\\|")


def placed() -> dict[str, str]:
    """Return the page of each documented name."""
    made = {name: page for page, (_, _, names) in PAGES.items() for name in names.split()}
    return made | {error.__name__: ERRORS for error in errors()}


def index_page() -> str:
    """Return the page that lists every public name."""
    lines = ["# Python reference\n", "Everything here is imported from `evimem`. `Memory`'s calls are listed by what "
             "they do; [`AsyncMemory`](opening.md#asyncmemory) has the same ones, awaited.\n"]  # fmt: skip
    for page, (title, _, names) in PAGES.items():
        lines += [f"**[{title}]({page}.md)**\n", "| name | does |", "|---|---|"]
        for name in names.split():
            anchor = name.lower().replace(".", "-")
            shown = name.removeprefix("Memory.")
            lines.append(f"| [`{shown}`]({page}.md#{anchor}) | {first_sentence(function_of(resolve(name)))} |")
        lines.append("")
    lines += [f"**[Errors]({ERRORS}.md)**\n", f"{len(errors())} exceptions, all of them `EvimemError`.\n"]
    lines += ["**[Modules of integrations](modules.md)**\n", "Adapters of frameworks, loaders, test doubles.\n"]
    return "\n".join(lines)


MODULES: Mapping[str, str] = {  # public modules beside the package itself, and their names
    "adapters.openai_agents": "EvimemSession recall_tool",
    "adapters.langchain": "EvimemRetriever EvimemChatMessageHistory",
    "adapters.langgraph": "EvimemStore",
    "adapters.pydantic_ai": "memory_toolset",
    "adapters.llama_index": "EvimemBlock EvimemNodeRetriever",
    "adapters.adk": "EvimemMemoryService",
    "adapters.agent_framework": "EvimemContext",
    "adapters.mem0": "Mem0Memory AsyncMem0Memory",
    "adapters.otel": "Spans",
    "loaders": "load",
    "calibration": "read_labelled",
    "loops.iris": "Iris SinglePass",
    "loops.memr3": "MemR3",
    "loops.mgretrieval": "MGRetrieval",
    "loops.mragent": "MRAgent",
    "testing": "ScriptedModel AsyncScriptedModel",
    "extract.spacy_extractor": "SpacyExtractor",
    "query.cross_encoder": "CrossEncoderReranker",
    "query.fastembed_reranker": "FastembedReranker",
}


def modules_page() -> str:
    """Return the page of public modules beside the package itself, read as text: their extras need not be installed."""
    lines = ["# Modules of integrations\n", "Imported by their full name, such as `evimem.adapters.langgraph`.\n"]
    for name, names in MODULES.items():
        path = PACKAGE / f"{name.replace('.', '/')}.py"
        tree = ast.parse((path if path.exists() else path.with_suffix("") / "__init__.py").read_text(encoding="utf-8"))
        lines += [f"## evimem.{name} {{#{name.rpartition('.')[2].replace('_', '-')}}}\n"]
        lines += [f"{paragraphs(ast.get_docstring(tree) or '')}\n"]
        nodes = {node.name: node for node in public_nodes(tree.body)}
        lines += [line for one in names.split() for line in node_lines(nodes[one], 3)]
    return "\n".join(lines)


def public_nodes(body: Iterable[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the documented classes and functions of a body whose names are public."""
    for node in body:
        named = isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith(
            "_"
        )
        if named and ast.get_docstring(node):
            yield node


def fields_of(node: ast.ClassDef) -> Iterator[str]:
    """Yield the public fields of a class that is a value, each with its default."""
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_"):
            default = "" if one.value is None else f"={ast.unparse(one.value)}"
            if "ClassVar" not in ast.unparse(one.annotation):
                yield one.target.id + default


def node_lines(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, level: int, owner: str = ""
) -> Iterator[str]:
    """Yield the lines of a class or function that was read as text."""
    document = parse_docstring(ast.get_docstring(node) or "")
    arguments = "" if isinstance(node, ast.ClassDef) else ast.unparse(node.args).removeprefix("self, ")
    if isinstance(node, ast.ClassDef):
        (made_by,) = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"][:1] or [
            None
        ]
        if made_by is not None:
            arguments = ast.unparse(made_by.args).removeprefix("self, ").removeprefix("self")
            inner = parse_docstring(ast.get_docstring(made_by) or "")
            document = Docstring(document.text, {**inner.sections, **document.sections}, document.returns)
        else:
            arguments = ", ".join(fields_of(node))
    arguments = "" if arguments == "self" else arguments
    yield f"{'#' * level} {owner}{node.name}\n"
    yield f"```text\n{owner}{node.name}({arguments})\n```\n"
    yield f"{paragraphs(document.text)}\n"
    for title in ("Args", "Attributes", "Raises"):
        if held := document.sections.get(title):
            yield f"**{'Parameters' if title == 'Args' else title}**\n"
            yield from (f"- **`{name}`**: {plain(text)}" for name, text in held.items())
            yield ""
    if isinstance(node, ast.ClassDef):
        for member in public_nodes(node.body):
            yield from node_lines(member, level + 1, f"{node.name}.")


def commands_page() -> str:
    """Return the page of the command line, made from its parsers."""
    lines = [
        "# Command line\n",
        "`evimem COMMAND --help` prints the same. PATH is a file, or the address of a server with `--user`.\n",
        "| command | does |",
        "|---|---|",
    ]
    parsers = {name: command_parser(name) for name in COMMANDS}
    lines += [
        f"| [`{name}`](#{name}) | {plain((own.description or '').partition(chr(10))[0])} |"
        for name, own in parsers.items()
    ]
    lines += ["\n## Exit codes\n", "| code | means |", "|--:|---|"]
    lines += [f"| {int(code)} | {code.meaning} |" for code in Exit]
    for name, own in parsers.items():
        lines += ["", f"## {name} {{#{name}}}\n", *command_lines(own)]
    return "\n".join(lines)


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    top = make_parser([name])
    (commands,) = [one for one in top._actions if isinstance(one, argparse._SubParsersAction)]
    own: argparse.ArgumentParser = commands.choices[name]
    return own


def options_of(own: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments and options of a command, without help."""
    return [one for one in own._actions if not isinstance(one, argparse._HelpAction)]


def command_lines(own: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of a command: its description, its arguments, its options by group."""
    usage = re.sub(r"\s+", " ", own.format_usage().removeprefix("usage: ")).strip()
    positional = " ".join(usage_word(one) for one in options_of(own) if not one.option_strings)
    needed = " ".join(
        f"{one.option_strings[0]} {metavar(one)}" for one in options_of(own) if one.option_strings and one.required
    )
    yield (
        "```text\n"
        + " ".join(["evimem", usage.split()[1], positional, needed, "[options]"]).replace("  ", " ")
        + "\n```\n"
    )
    yield (
        paragraphs(own.description or "")
        .replace("\n  {", "\n    {")
        .replace("\n  evimem", "\n    evimem")
        .replace("\n  curl", "\n    curl")
        + "\n"
    )
    for group in own._action_groups:
        held = [one for one in group._group_actions if not isinstance(one, argparse._HelpAction)]
        if not held:
            continue
        yield f"**{group.title or ''}**\n"
        for one in held:
            named = ", ".join(one.option_strings) or str(one.metavar or one.dest)
            value = "" if one.nargs == 0 or not one.option_strings else f" {metavar(one)}"
            yield f"- **`{named}{value}`**: {plain((one.help or '').replace('%%', '%'))}"
        yield ""


def usage_word(one: argparse.Action) -> str:
    """Return a positional argument as usage shows it."""
    return f"[{one.metavar}]" if one.nargs == "?" else str(one.metavar or one.dest)


def metavar(one: argparse.Action) -> str:
    """Return how the value of an option is named."""
    if one.choices:
        return "{" + ",".join(map(str, one.choices)) + "}"
    shown = one.metavar or one.dest.upper()
    return " ".join(shown) if isinstance(shown, tuple) else shown


def pages() -> dict[str, str]:
    """Return every generated page of the reference by its path below `docs/`."""
    return {**python_pages(), "reference/commands.md": commands_page()}
