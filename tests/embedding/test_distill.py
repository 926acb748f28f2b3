"""The script that makes the shipped embedding: its own half here, all of it where model2vec is installed."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from evimem.embedding.static_embedder import SHIPPED, read_artifact
from evimem.errors import EmbedderError

SCRIPT = Path(__file__).parents[2] / "scripts" / "distill_embedding.py"
PIECES = ("[PAD]", "[UNK]", "a", "dog", "cat", "##s", "sleep", ".")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("distill_embedding", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_shipped_file_is_written_again_byte_for_byte(script, tmp_path):
    vocabulary = SHIPPED.with_name("vocabulary.txt")
    pieces = vocabulary.read_text(encoding="utf-8").split("\n")[:-1]
    script.write_artifact(tmp_path / "again", read_artifact(SHIPPED), pieces)
    assert (tmp_path / "again").read_bytes() == SHIPPED.read_bytes()
    assert (tmp_path / "vocabulary.txt").read_bytes() == vocabulary.read_bytes()
    assert len(read_artifact(SHIPPED).vectors) == len(pieces)


def test_what_was_distilled_is_read_again_to_half_a_level(script, tmp_path):
    matrix = np.random.default_rng(3).normal(size=(len(PIECES), 48)).astype(np.float16)
    matrix[1] = 0
    assert script.write(script.Distilled(matrix, PIECES), tmp_path / "tiny.safetensors") > 0.9999
    found = read_artifact(tmp_path / "tiny.safetensors")
    error = np.abs(found.vectors * found.scale[:, None].astype(np.float64) - matrix)
    assert (error <= np.abs(matrix).max(axis=1, keepdims=True) / 127 * 0.501).all()
    assert not found.vectors[1].any()


@pytest.mark.parametrize("left", [0, 7, 90, 1000, -1])
def test_a_file_that_was_cut_is_named(tmp_path, left):
    (tmp_path / "cut").write_bytes(SHIPPED.read_bytes()[:left])
    with pytest.raises(EmbedderError, match="cut"):
        read_artifact(tmp_path / "cut")


def test_weights_that_are_not_those_of_notice_are_refused_before_any_work(script, tmp_path, capsys):
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert script.main([str(tmp_path), str(tmp_path / "out.safetensors")]) == 1
    assert "--sha256 any" in capsys.readouterr().err
    assert not (tmp_path / "out.safetensors").exists()


def test_the_weights_it_expects_are_those_that_notice_names(script):
    assert script.SHIPPED_FROM in (SCRIPT.parents[1] / "NOTICE").read_text(encoding="utf-8")
