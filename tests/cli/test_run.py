import os
import subprocess
import sys

import pytest

from evimem.__main__ import main
from evimem.cli import arguments
from evimem.cli.arguments import MEANINGS, Exit, code_of
from evimem.errors import (
    EmbedderError,
    EmbedderMismatch,
    ImportFailed,
    MissingExtra,
    ModelTimeout,
    StoreBusy,
    UnknownTurn,
)


def test_output_into_a_closed_pipe_ends_quietly(friends):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "evimem", "search", str(friends), "puppy", "-k", "183"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_help_lists_every_command_and_exit_code(cli):
    ran = cli("--help")
    assert ran.code == 0
    for name in arguments.COMMANDS:
        assert f"    {name} " in ran.out.replace("\n", " ")
    for code, meaning in MEANINGS.items():
        assert f"{code:>3}  {meaning}" in ran.out
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize("name", arguments.COMMANDS)
def test_every_command_explains_itself(cli, name):
    ran = cli(name, "--help")
    assert ran.code == 0
    assert "--json" in ran.out
    assert arguments.function_of(name).__doc__.split("\n")[0] in ran.out


def test_a_wrong_command_line_is_a_usage_error(cli):
    assert cli("ask").code == Exit.USAGE
    assert cli("calibrate").code == Exit.USAGE
    assert cli().code == Exit.USAGE


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--llm"], "--llm needs --model NAME"),
        (["--model", "gpt"], "--model needs --llm"),
        (["--base-url", "http://x"], "--base-url needs --llm"),
        (["--on-model-error", "offline"], "--llm"),
        (["--llm", "--model", "m", "--on-model-error", "ignore"], "--on-model-error"),
        (["--llm", "--model", "m", "--deadline", "0"], "--deadline"),
        (["--stream", "--json"], "--stream"),
    ],
)
def test_a_model_is_used_only_when_asked_for(cli, friends, words, reason):
    ran = cli("ask", friends, "Who?", *words)
    assert (ran.code, reason in ran.err) == (Exit.USAGE, True)


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
    assert code_of(error) == code


def test_an_unexpected_error_is_not_hidden(friends, monkeypatch):
    def broken(memory, screen):
        raise RuntimeError("a bug")

    monkeypatch.setattr("evimem.cli.state.stats", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["stats", str(friends)])
