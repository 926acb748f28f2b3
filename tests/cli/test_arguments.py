"""The options of a command are the arguments of its function and of a method of `Memory`; errors have exit codes."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evimem
from evimem.__main__ import main
from evimem.adapters.user_tokens import TokenFile, TokenHolder
from evimem.api.memory import Memory
from evimem.cli.arguments import (
    COMMANDS,
    Exit,
    Parser,
    add_argument,
    exit_code_of,
    import_command,
    make_parser,
    read_declaration,
)
from evimem.errors import (
    EmbedderError,
    EmbedderMismatch,
    ImportFailed,
    MissingExtra,
    ModelTimeout,
    StoreBusy,
    UnknownTurn,
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_each_of_its_arguments(cli, name):
    ran = cli(name, "--help")
    assert (ran.code, "--json" in ran.out) == (0, True)
    first = (import_command(name).__doc__ or "").split("\n")[0]
    assert first in ran.out
    assert len(first) <= 72, "the list of commands has a line for each"
    (commands,) = (action for action in make_parser([name])._actions if isinstance(action.choices, dict))
    assert [action.dest for action in commands.choices[name]._actions if not action.help] == []
    if COMMANDS[name].like:
        unwanted = ("see `search", "see `now", "E5")
        assert [word for word in unwanted if word in ran.out] == [], "words for those who write Python"


def test_help_lists_every_command_and_exit_code(cli):
    ran = cli("--help")
    assert ran.code == 0
    for name in COMMANDS:
        assert f"    {name} " in ran.out.replace("\n", " ")
    for code in Exit:
        assert f"{code:>3}  {code.meaning}" in ran.out


def test_an_argument_of_the_method_is_an_option_of_the_command():
    words = ["search", "m", "tea", "-k", "3", "--asked-at", "now", "--over", "facts", "--exclude", "a"]
    given = vars(make_parser(words).parse_args(words))
    assert {name: given[name] for name in ("query", "k", "asked_at", "over", "exclude")} == {
        "query": "tea", "k": 3, "asked_at": "now", "over": "facts", "exclude": ["a"],
    }  # fmt: skip
    assert given["takes"] <= {*inspect.signature(Memory.search).parameters, "explain"}


@pytest.mark.parametrize(
    ("argument", "words", "value"),
    [
        ("str | None = None", ["--a-b", "x"], "x"),
        ("int = 3", ["--a-b", "5"], 5),
        ("float | None = None", ["--a-b", "0.5"], 0.5),
        ("bool = False", ["--a-b"], True),
        ("bool = True", ["--no-a-b"], False),
        ("Mapping[str, Any] | None = None", ["--a-b", '{"k": 1}'], {"k": 1}),
        ("Collection[str] = ()", ["--a-b", "x", "--a-b", "y"], ["x", "y"]),
        ("str | Loop = 'iris'", ["--a-b", "memr3"], "memr3"),
        ("Path | None = None", ["--a-b", "f"], Path("f")),
        ("Over = 'turns'", ["--a-b", "both"], "both"),
        *((f"{kind} = None", [], None) for kind in ("Progress | None", "OnEvent", "Budget", "Iterable[Turn]")),
    ],
)
def test_a_word_becomes_a_value_of_the_type_that_is_named_and_what_no_word_can_be_is_no_option(argument, words, value):
    kind, _, default = argument.partition(" = ")
    one = inspect.Parameter(
        "a_b", inspect.Parameter.KEYWORD_ONLY, annotation=kind, default={"True": True, "False": False}.get(default, "")
    )
    own = Parser()
    assert add_argument(own, one, Memory.search, {}) == bool(words)
    assert getattr(own.parse_args(words), "a_b", None) == value
    assert vars(own.parse_args([])) == {}, "what is not given is left to the function"


@pytest.mark.parametrize("method", sorted({command.like for command in COMMANDS.values()} - {""}))
def test_a_method_that_is_read_as_text_is_as_it_is(method):
    """Its options are those of the method, and the words of help."""
    real, read = getattr(evimem if method == "open" else Memory, method), read_declaration(method)
    assert list(inspect.signature(read).parameters.values()) == list(inspect.signature(real).parameters.values())
    assert inspect.getdoc(read) == inspect.getdoc(real)


@pytest.mark.parametrize("words", [("--help",), ("--version",), (), ("ask", "--help"), ("import", "--help")])
def test_help_imports_nothing_of_the_engine(words):
    engine = ("numpy", "evimem.api", "evimem.loops", "evimem.times", "evimem.store")
    code = "import sys; from evimem.cli.arguments import run_command_line\n"
    code += f"run_command_line({words!r}); print(*{{*{engine!r}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_output_into_a_closed_pipe_ends_quietly(friends):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "evimem", "search", str(friends), "puppy", "-k", "183"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "COMMAND"),
        (("ask",), "PATH"),
        (("calibrate", "FRIENDS"), "LABELLED"),
        (("ask", "FRIENDS", "Who?", "--llm"), "--llm needs --model NAME"),
        (("ask", "FRIENDS", "Who?", "--model", "gpt"), "--model needs --llm"),
        (("ask", "FRIENDS", "Who?", "--base-url", "http://x"), "--base-url needs --llm"),
        (("ask", "FRIENDS", "Who?", "--on-model-error", "offline"), "--llm"),
        (("ask", "FRIENDS", "Who?", "--llm", "--model", "m", "--on-model-error", "ignore"), "--on-model-error"),
        (("ask", "FRIENDS", "Who?", "--llm", "--model", "m", "--deadline", "0"), "--deadline"),
        (("ask", "FRIENDS", "Who?", "--stream", "--json"), "--stream"),
        (("search", "FRIENDS", "Leeds", "--where", "year=2024"), "is no JSON"),
        (("show", "FRIENDS"), "give either TURN_ID or --about NAME"),
        (("show", "FRIENDS", "a", "--about", "Mira"), "give either TURN_ID or --about NAME"),
        (("forget", "FRIENDS"), "exactly one"),
        (("forget", "FRIENDS", "--session", "s1", "--speaker", "Mira"), "exactly one"),
        (("forget", "FRIENDS", "--turn", "s1:4", "--where", "{}"), "exactly one"),
        (("forget", "FRIENDS", "--everything"), "--yes"),
        (("enrich", "FRIENDS", "--batch"), "--batch needs --llm and --model NAME"),
        (("enrich", "FRIENDS", "--batch", "--dry-run"), "exclude each other"),
        (("mcp",), "give the PATH of a memory, or --pool DIR"),
        (("mcp", "m", "--pool", "d", "--user", "x"), "give the PATH of a memory, or --pool DIR"),
        (("mcp", "m", "--port", "1"), "--port needs --http"),
        (("mcp", "m", "--user", "x"), "--user chooses among the memories of --pool"),
        (("mcp", "m", "--http", "--tokens", "t"), "--tokens chooses among the memories of --pool"),
        (("mcp", "--pool", "d"), "--pool needs either --user ID or, with --http, --tokens FILE"),
        (("mcp", "--pool", "d", "--http", "--tokens", "t", "--user", "x"), "--pool needs either"),
        (("mcp", "m", "--http", "--host", "0.0.0.0"), "without --tokens only this machine may come"),
        (("mcp", "m", "--http", "--host", "example.org"), "without --tokens only this machine may come"),
        (("mcp", "m", "--deadline", "3"), "--deadline needs --llm"),
    ],
)
def test_options_that_do_not_fit_together_are_named_and_do_nothing(cli, friends, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    ran = cli(*(friends if word == "FRIENDS" else word for word in words))
    assert (ran.code, reason in " ".join(ran.err.split())) == (Exit.USAGE, True), ran.err
    assert [*tmp_path.iterdir()] == []
    assert cli("stats", friends, "--json").data["turns"] == 183


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreBusy("busy"), Exit.STORE), (EmbedderMismatch("a", "b"), Exit.STORE),
        (ModelTimeout("late"), Exit.MODEL), (EmbedderError("down"), Exit.MODEL),
        (MissingExtra("evimem.OpenAI", "openai"), Exit.MODEL), (ImportFailed("x"), Exit.INPUT),
        (UnknownTurn("s1"), Exit.INPUT),
    ],
)  # fmt: skip
def test_an_error_leads_to_the_code_of_what_failed(error, code):
    assert exit_code_of(error) == code


def test_an_unexpected_error_is_not_hidden(friends, monkeypatch):
    def broken(memory, screen):
        raise RuntimeError("a bug")

    monkeypatch.setattr("evimem.cli.state.stats", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["stats", str(friends)])


def test_token_prints_a_token_that_the_file_knows(cli, tmp_path):
    token = cli("token", tmp_path / "t", "--user", "mira", "--scope", "read", "--json").data["token"]
    assert cli("token", tmp_path / "t", "--user", "tomas").out.strip() != token
    assert TokenFile(tmp_path / "t").holder(token) == TokenHolder("mira", "read")
