"""Vectors of tokens by a language model in a folder, for BERTScore; needs the extra `bertscore`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evimem.errors import InvalidQuery, MissingExtra

from .bert_score import EmbeddedText, bert_score

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as _error:
    raise MissingExtra("BERTScore", "bertscore") from _error

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_LONGEST = 512  # tokens that such models read


class TokenVectors:
    """A model as ONNX and its tokenizer, read from a folder; nothing is downloaded.

    Figures compare with the paper's where the model is roberta-large cut after its 17th layer: export it with
    `num_hidden_layers` 17 in its configuration, for the task "feature-extraction" of the exporter `optimum-cli`.
    """

    def __init__(self, folder: Path) -> None:
        """Load the model. Raise InvalidQuery where the folder lacks one of its files."""
        for name in (_MODEL, _TOKENIZER):
            if not (folder / name).is_file():
                raise InvalidQuery(
                    f"{str(folder)!r} has no {name}; expected the folder that `optimum-cli export onnx --model "
                    "roberta-large --task feature-extraction FOLDER` writes"
                )
        self._session = onnxruntime.InferenceSession(folder / _MODEL, providers=["CPUExecutionProvider"])
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.enable_truncation(_LONGEST)

    def embed(self, text: str) -> EmbeddedText:
        """Return the vectors of a text's tokens, the first output of the model."""
        found = self._tokenizer.encode(text)
        rows = {"input_ids": found.ids, "attention_mask": found.attention_mask, "token_type_ids": found.type_ids}
        given = {name: np.array([row], np.int64) for name, row in rows.items() if name in self._inputs}
        vectors = self._session.run(None, given)[0][0]
        return EmbeddedText(np.asarray(vectors, np.float32), np.array(found.special_tokens_mask) == 0)

    def score(self, answer: str, gold: str) -> float:
        """Return the BERTScore of an answer."""
        return bert_score(self.embed(answer), self.embed(gold))
