"""BERTScore on vectors whose cosines are known by hand, and with a model of six tokens in two dimensions.

six_tokens.onnx is one Gather: [CLS], [SEP] and tea are (1, 0), cup is (0, 1), mug (.6, .8), no (-1, 0).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.scoring.bert_score import EmbeddedText, bert_score

MODEL = Path(__file__).with_name("six_tokens.onnx")
TEA, CUP, MUG, NO = (1.0, 0.0), (0.0, 2.0), (0.3, 0.4), (-1.0, 0.0)  # of any length: only directions count


def text(*vectors: tuple[float, float], marks: int = 0) -> EmbeddedText:
    """Return tokens, the first `marks` of which are set around the text."""
    counted = np.arange(len(vectors)) >= marks
    return EmbeddedText(np.array(vectors, np.float32).reshape(-1, 2), counted)


def test_each_token_counts_with_its_best_partner():
    # precision: tea .6 by mug, cup 1; recall: mug .8 by cup, cup 1; so 2 * .8 * .9 / 1.7
    assert bert_score(text(TEA, CUP), text(MUG, CUP)) == pytest.approx(1.44 / 1.7)
    assert bert_score(text(MUG, CUP), text(TEA, CUP)) == pytest.approx(1.44 / 1.7)
    assert bert_score(text(TEA, CUP), text(TEA, CUP)) == pytest.approx(1)
    assert bert_score(text(TEA), text(NO)) == pytest.approx(-1)


def test_without_its_packages_it_says_what_to_install():
    hidden = "import sys; sys.modules['onnxruntime'] = None; import benchmarks.scoring.token_vectors"
    ended = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert "MissingExtra: BERTScore needs the 'bertscore' extra: pip install 'evimem[bertscore]'" in ended.stderr


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("onnxruntime", reason="an extra")
    words = {"[CLS]": 0, "[SEP]": 1, "tea": 2, "cup": 3, "mug": 4, "no": 5}
    marks = [{"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]")]
    around = [marks[0], {"Sequence": {"id": "A", "type_id": 0}}, marks[1]]
    special = {name: {"id": name, "ids": [words[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    processor = {"type": "TemplateProcessing", "single": around, "pair": around, "special_tokens": special}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "no"}
    tokenizer = {"version": "1.0", "model": model, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": processor}
    tmp_path.joinpath("tokenizer.json").write_text(json.dumps(tokenizer))
    return Path(shutil.copy(MODEL, tmp_path / "model.onnx")).parent


def test_a_model_in_a_folder_is_asked(folder):
    from benchmarks.scoring.token_vectors import TokenVectors  # noqa: PLC0415 - needs an extra

    model = TokenVectors(folder)
    # tea finds tea, cup 1; mug: .8 by cup, above its .6 with tea and the marks
    assert model.score("tea cup", "mug cup") == pytest.approx(2 * 1 * 0.9 / 1.9)
    assert model.score("", "tea") == 0
