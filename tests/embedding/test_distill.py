"""The script that makes the shipped embedding: its own half here, all of it where model2vec is installed."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from evimem.embedding import StaticEmbedder

SCRIPT = Path(__file__).parents[2] / "scripts" / "distill_embedding.py"
PIECES = ("[PAD]", "[UNK]", "a", "dog", "cat", "##s", "sleep", ".")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("distill_embedding", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_what_was_distilled_is_what_the_embedder_says(script, tmp_path):
    matrix = np.random.default_rng(3).normal(size=(len(PIECES), 48)).astype(np.float16)
    matrix[1] = 0
    cosine = script.write(script.Distilled(matrix, PIECES), tmp_path / "tiny.safetensors")
    (row,) = StaticEmbedder(tmp_path / "tiny.safetensors").embed(["A dog sleeps."])
    mean = matrix[[2, 3, 6, 5, 7]].astype(np.float64).mean(axis=0)
    assert cosine > 0.9999
    assert row @ mean / np.linalg.norm(mean) > 0.9999


def test_weights_that_are_not_those_of_notice_are_refused_before_any_work(script, tmp_path, capsys):
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert script.main([str(tmp_path), str(tmp_path / "out.safetensors")]) == 1
    assert "--sha256 any" in capsys.readouterr().err
    assert not (tmp_path / "out.safetensors").exists()


def test_the_weights_it_expects_are_those_that_notice_names(script):
    assert script.SHIPPED_FROM in (SCRIPT.parents[1] / "NOTICE").read_text(encoding="utf-8")
