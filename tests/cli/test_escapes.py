"""Nothing that a path, an argument, a turn or a model says steers the terminal that it is printed on."""

import io
import re

import pytest

import evimem
from evimem.cli import arguments
from evimem.cli.page import Screen
from evimem.testing import ScriptedModel

EVIL = "\x1b]0;owned\x07\x1b[31m\u202e\x9b2J"
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / f"a{EVIL}b"
    folder.mkdir()
    with evimem.open(folder / f"m{EVIL}.evimem") as memory:
        text = f"I adopted a puppy{EVIL} last Friday."
        memory.add(f"Mira{EVIL}", text, time="2024-03-12T18:20", session=f"s{EVIL}", id=f"t{EVIL}")
    return folder / f"m{EVIL}.evimem"


COMMANDS = {
    "ask": ["ask", "PATH", "When did Mira adopt her puppy?"],
    "ask nonsense": ["ask", "PATH", f"Where is the {EVIL}?"],
    "search": ["search", "PATH", f"puppy{EVIL}"],
    "show": ["show", "PATH"],
    "stats": ["stats", "PATH"],
    "doctor": ["doctor", "PATH"],
    "export": ["export", "PATH", f"PATH{EVIL}.jsonl"],
    "import what is none": ["import", "PATH", "PATH"],
    "ingest what is none": ["ingest", "PATH", "PATH"],
    "an unknown turn": ["show", "PATH", f"nobody{EVIL}"],
    "forget an unknown turn": ["forget", "PATH", "--turn", f"nobody{EVIL}"],
    "a memory that is not there": ["stats", f"PATH{EVIL}"],
    "a command that is none": [f"{EVIL}"],
    "an option that is none": ["stats", "PATH", f"--{EVIL}"],
    "a value that is none": ["search", "PATH", "puppy", "-k", f"{EVIL}"],
    "a file that is not there": ["ingest", "PATH", f"PATH{EVIL}"],
}


@pytest.mark.parametrize("case", COMMANDS)
def test_no_command_prints_what_steers_the_terminal(cli, path, case):
    ran = cli(*(word.replace("PATH", str(path)) for word in COMMANDS[case]))
    assert ran.out + ran.err
    assert STEERS.findall(ran.out + ran.err) == []


def test_a_models_answer_does_not_steer_the_terminal(cli, path, monkeypatch):
    judged = '{"tier": "exact", "confidence": 0.9, "requirements": [], "gaps": [], "next_query": "", "reason": "x"}'
    said = f'{{"steps": [], "answer": "on Friday {EVIL}", "citations": []}}'.replace("\x1b", "\\u001b")
    said = said.replace("\x07", "\\u0007").replace("\x9b", "\\u009b")
    replies = {"judge": judged, "answer": said}
    model = ScriptedModel(then=lambda request: replies[request.role])
    monkeypatch.setattr(arguments, "model_from_options", lambda options: model)
    ran = cli("ask", path, "When did Mira adopt her puppy?", "--llm", "--model", "m", "--base-url", "http://x")
    assert STEERS.findall(ran.out + ran.err) == []
    assert "on Friday" in ran.out


def test_notes_and_progress_do_not_steer_the_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    screen = Screen()
    screen.print_note(f"evimem: {EVIL} is odd")
    screen.start_progress(EVIL, "turns")._draw(0.0)
    assert STEERS.findall(stream.getvalue()) == []
