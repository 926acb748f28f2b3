"""The shipped embedding: what it says, and that it is the one whose facts NOTICE states."""

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.embedding import static_embedder
from evimem.embedding.static_embedder import SHIPPED, StaticEmbedder

EMBEDDER = StaticEmbedder()
TEXTS = st.lists(st.text(max_size=40) | st.sampled_from(["A puppy sleeps.", "the ferry to Ostend", "\u0378", "!?"]))


@pytest.mark.parametrize(
    ("name", "sha256"),
    [
        ("static-minilm-256.safetensors", "57a02dfa930ce89902f43a56eee5661eead84589aef34d203fbb8e2a03128206"),
        ("vocabulary.txt", "2154fe433507696463956bfdd3e6f74a8413e13f3f73e0e10d1b0565b958628d"),
    ],
)
def test_the_shipped_files_are_those_that_notice_names(name, sha256):
    assert hashlib.sha256(SHIPPED.with_name(name).read_bytes()).hexdigest() == sha256
    assert sha256 in (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")


def test_it_knows_its_name_and_dimension_without_reading_a_file():
    code = (
        "from evimem.embedding.static_embedder import StaticEmbedder\nfrom evimem.embedding import static_embedder\n"
        "reads = static_embedder._shipped_table.cache_info\n"
        "embedder = StaticEmbedder(); print(embedder.name, embedder.dimension, reads().misses)\n"
        "embedder.embed(['a']); StaticEmbedder().embed(['a']); print(reads().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd())
    assert done.stdout.split() == ["static-minilm-256", "256", "0", "1"]


def test_texts_of_one_meaning_lie_closer_than_others():
    dog, puppy, invoice = EMBEDDER.embed(["The dog barked.", "Our puppy barks a lot", "The invoice is overdue."])
    assert dog @ puppy > 0.5 > dog @ invoice


@given(TEXTS)
def test_rows_are_unit_or_zero_whatever_the_text(texts):
    rows = EMBEDDER.embed(texts)
    assert rows.shape == (len(texts), 256)
    assert rows.dtype == np.float32
    assert all(abs(norm - 1) < 1e-5 or norm == 0 for norm in np.linalg.norm(rows, axis=1))


@given(TEXTS)
def test_a_text_has_the_same_row_alone_and_in_any_batch(texts):
    rows = EMBEDDER.embed(texts)
    assert all(np.array_equal(row, EMBEDDER.embed([text])[0]) for row, text in zip(rows, texts, strict=True))
    assert np.array_equal(rows[::-1], EMBEDDER.embed(texts[::-1]))


@pytest.mark.parametrize("text", ["A puppy sleeps.", "We met in Lisbon, twice"])
def test_repetition_and_unknown_words_change_nothing(text):
    once, often, beside = EMBEDDER.embed([text, f"{text} " * 3000, f"\u0378 {text} {'x' * 101}"])
    np.testing.assert_allclose(once, often, atol=1e-5)
    assert np.array_equal(once, beside)


@pytest.mark.parametrize("text", ["", " \n", "\u0378", "\ud800", "\x00", "x" * (1 << 20)])
def test_a_text_without_a_known_token_has_a_row_of_zeros(text):
    assert not EMBEDDER.embed([text]).any()


def test_many_threads_read_it_once_and_agree(monkeypatch):
    reads = []
    read = static_embedder.read_artifact
    monkeypatch.setattr(static_embedder, "read_artifact", lambda path: reads.append(path) or read(path))
    static_embedder._shipped_table.cache_clear()
    rows = [None] * 8
    together = threading.Barrier(len(rows))

    def embed(index):
        together.wait()
        rows[index] = StaticEmbedder().embed([f"puppy number {number}" for number in range(200)])

    threads = [threading.Thread(target=embed, args=(index,)) for index in range(len(rows))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1
    assert all(np.array_equal(row, rows[0]) for row in rows)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_while_a_thread_is_loading_can_still_embed():
    with static_embedder._loading:
        child = os.fork()
        if child == 0:
            embed = threading.Thread(target=EMBEDDER.embed, args=(["a"],), daemon=True)
            embed.start()
            embed.join(timeout=20)
            os._exit(3 if embed.is_alive() else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_odd_characters_do_not_hide_the_words_around_them():
    plain, odd = EMBEDDER.embed(["a puppy sleeps", "A pup\x00py \ud800\udfffsleeps\udcff"])
    assert np.array_equal(plain, odd)
