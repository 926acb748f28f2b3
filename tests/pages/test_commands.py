"""`evimem explore` as a process, and `evimem trace --html`."""

import json
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

import pytest

import evimem
from evimem.__main__ import main
from evimem.adapters.user_tokens import new_token
from evimem.cli.arguments import Exit


def exploring(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "evimem", "explore", *map(str, words)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("shown", ["file", "pool", "user"])
def test_explore_prints_an_address_that_opens_the_memory_and_ends_on_an_interrupt(friends_path, tmp_path, shown):
    with evimem.MemoryPool(tmp_path / "users") as pool, pool.open("mira") as memory:
        memory.add("Mira", "We adopted a puppy.", time="2024-03-12T18:20")
    users = tmp_path / "users"
    words = {"file": (friends_path,), "pool": ("--pool", users), "user": (users, "--user", "mira")}
    process = exploring(*words[shown])
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(url) as answer:
            assert answer.geturl() == f"{url.partition('/?')[0]}/ask"
        with browser.open(f"{url.partition('/?')[0]}/find?q=puppy&user=mira") as answer:
            assert b"adopted a puppy" in answer.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url.partition("?")[0])
        refused.value.close()
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(20)
        process.stdout.close()
    assert code in (Exit.OK, Exit.INTERRUPTED)


@pytest.mark.parametrize(
    "words", [[], ["a.evimem", "--pool", "b"], ["--pool", "b", "--user", "mira"], ["--pool", "b", "--labels", "c"]]
)
def test_options_that_do_not_fit_together_are_refused(words, capsys):
    assert main(["explore", *words]) == Exit.USAGE
    assert "Traceback" not in capsys.readouterr().err


def test_a_memory_that_is_not_there_is_not_made(tmp_path, capsys):
    assert main(["explore", str(tmp_path / "a.evimem")]) == Exit.INPUT
    assert main(["explore", "--pool", str(tmp_path / "users")]) == Exit.INPUT
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_named(friends_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["explore", str(friends_path), "--port", port]) == Exit.INPUT
    assert f"port {port} cannot be used" in capsys.readouterr().err


def test_a_trace_is_written_as_a_page_that_only_its_owner_reads(friends, friends_path, tmp_path, capsys):
    friends.keep_trace(friends.ask("When did Mira adopt her puppy?").trace)
    file = tmp_path / "why.html"
    assert main(["trace", str(friends_path), "--html", str(file)]) == Exit.OK
    page = file.read_text(encoding="utf-8")
    assert "We adopted a puppy" in page
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = friends_path.read_bytes()[:16]
    assert main(["trace", str(friends_path), "--html", str(friends_path)]) != Exit.OK
    assert friends_path.read_bytes()[:16] == before


@pytest.mark.parametrize("scope", ["read", "admin"])
def test_the_pages_of_the_server_show_a_token_its_own_user_and_what_it_may_do(tmp_path, scope):
    with evimem.MemoryPool(tmp_path / "users") as users:
        for user in ("mira", "bo"):
            with users.open(user) as memory:
                memory.add("user", f"I am {user}.", time="2024-03-12T18:20", id="a")
    token = new_token(tmp_path / "tokens.txt", "mira", scope)
    words = ("--pool", tmp_path / "users", "--port", 0, "--quiet", "--tokens", tmp_path / "tokens.txt")
    command = [sys.executable, "-m", "evimem", "serve", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        base = re.findall(r"http://\S+", process.stderr.readline())[0]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with pytest.raises(urllib.error.HTTPError) as refused:
            browser.open(urllib.request.Request(f"{base}/", headers={"Accept": "text/html"}))
        with refused.value as answer:
            assert (answer.status, b'action="sign-in"' in answer.read()) == (401, True)
        with browser.open(f"{base}/sign-in", urllib.parse.urlencode({"token": token}).encode()) as answer:
            assert answer.geturl() == f"{base}/ask"
        with browser.open(f"{base}/turn.json?id=a&user=bo") as answer:
            assert json.loads(answer.read())["turn"]["text"] == "I am mira."
        with browser.open(f"{base}/forget?kind=turn&value=a") as answer:
            assert (b"for good" in answer.read()) == (scope == "admin")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stderr.close()
