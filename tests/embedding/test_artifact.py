"""The file of a static embedding: written and read back, and refused where it is not what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evimem.embedding import StaticEmbedder
from evimem.embedding.static_embedder import SHIPPED, quantize, read_artifact, write_artifact
from evimem.errors import EmbedderError

PIECES = ["[UNK]", "red", "blue", "##ish", "."]


def fake_matrix():
    rng = np.random.default_rng(7)
    return (rng.normal(size=(len(PIECES), 32)) * rng.uniform(0.01, 4, size=(len(PIECES), 1))).astype(np.float16)


@pytest.fixture
def artifact(tmp_path):
    path = tmp_path / "colours.safetensors"
    write_artifact(path, quantize(fake_matrix()), PIECES)
    return path


def test_the_shipped_file_is_written_again_byte_for_byte(tmp_path):
    vocabulary = SHIPPED.with_name("vocabulary.txt")
    write_artifact(tmp_path / "again", read_artifact(SHIPPED), vocabulary.read_text(encoding="utf-8").split("\n")[:-1])
    assert (tmp_path / "again").read_bytes() == SHIPPED.read_bytes()
    assert (tmp_path / "vocabulary.txt").read_bytes() == vocabulary.read_bytes()


def test_a_float16_matrix_survives_as_one_byte_a_value(artifact):
    matrix, embedder = fake_matrix().astype(np.float32), StaticEmbedder(artifact)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    rows = embedder.embed(["red", "blue", ".", "\u0378"])
    assert embedder.dimension == 32
    assert ((rows[:3] * unit[[1, 2, 4]]).sum(axis=1) > 0.9999).all()
    assert not rows[3].any()
    assert embedder.embed(["reddish"])[0] @ embedder.embed(["redish"])[0] < 0.9


@given(arrays.arrays(np.float32, (3, 8), elements=st.floats(-1e4, 1e4, width=32)))
def test_quantizing_is_within_half_a_level_and_keeps_zeros(matrix):
    quantized = quantize(matrix)
    levels = np.abs(matrix).max(axis=1, keepdims=True) / 127
    error = np.abs(quantized.vectors * quantized.scale[:, None].astype(np.float64) - matrix)
    assert (error <= levels * 0.5001 + 1e-37).all()
    assert not quantized.vectors[~matrix.any(axis=1)].any()


def test_other_readers_of_safetensors_read_the_same(artifact):
    tensors = pytest.importorskip("safetensors.numpy").load_file(artifact)
    ours = read_artifact(artifact)
    assert np.array_equal(tensors["vectors"], ours.vectors)
    assert np.array_equal(tensors["scale"], ours.scale)


def test_every_truncation_is_refused(artifact):
    data = artifact.read_bytes()
    for length in range(len(data)):
        artifact.write_bytes(data[:length])
        with pytest.raises(EmbedderError, match="colours"):
            read_artifact(artifact)


def test_every_flipped_bit_of_the_header_is_refused_or_harmless(artifact):
    data = artifact.read_bytes()
    expected = read_artifact(artifact)
    header = 8 + int.from_bytes(data[:8], "little")
    for bit in range(header * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        artifact.write_bytes(flipped)
        try:
            found = read_artifact(artifact)
        except EmbedderError:
            continue
        assert np.array_equal(found.vectors, expected.vectors)
        assert np.array_equal(found.scale, expected.scale)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b'"I8"', b'"U8"'), (b'"scale"', b'"skale"'), (b"[5,32]", b"[-5,-32]"), (b"[5,32]", b"[5,32.0]"),
        (b"[5,32]", b"[160]"), (b"[5]", b"[5,1]"), (b"[5,32]", b"[4,40]"), (b"[0,20]", b"[0,21]"),
        (b"[0,20]", b"[4,24]"), (b"[20,180]", b"[20,20]"), (b"[20,180]", b"null"), (b"[20,180]", b"[180,20]"),
        (b"[20,180]", b"[20,340]"), (b"[20,180]", b'["a","b"]'), (b"{", b"["),
    ],
)  # fmt: skip
def test_a_header_that_lies_is_refused(artifact, good, bad):
    data = artifact.read_bytes()
    length = 8 + int.from_bytes(data[:8], "little")
    head = data[8:length].replace(good, bad, 1)
    assert head != data[8:length]
    artifact.write_bytes(len(head).to_bytes(8, "little") + head + data[length:])
    with pytest.raises(EmbedderError, match="int8"):
        read_artifact(artifact)


def test_a_file_or_vocabulary_that_is_missing_or_of_another_length_is_named(artifact):
    vocabulary = artifact.with_name("vocabulary.txt")
    vocabulary.write_text("[UNK]\nred\n")
    with pytest.raises(EmbedderError, match=r"5 rows but its 'vocabulary\.txt' 2"):
        StaticEmbedder(artifact)
    vocabulary.unlink()
    with pytest.raises(EmbedderError, match=r"vocabulary\.txt"):
        StaticEmbedder(artifact)
    with pytest.raises(EmbedderError, match=r"nowhere\.safetensors"):
        StaticEmbedder(artifact.with_name("nowhere.safetensors"))
