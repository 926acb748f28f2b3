"""Who serves each role of a paper's experiment, read from a settings file in TOML (`benchmarks/papers.toml`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evimem import OpenAI, OpenAIEmbedder
from evimem.protocols import ChatModel
from evimem.types.trace import Complete, Reply

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERVED = ("judge", "answer", "extract", "decide")  # roles of requests
JUDGES = ("mark", "second_judge")  # that mark answers
TABLES = frozenset(("models", "backbone", "embedder", "other_embedder"))
FIELDS = frozenset(("model", "base_url", "key", "price", "dimension"))


class RoleModels:
    """A `ChatModel` that has each request answered by the model of its role, at whatever endpoint that is."""

    def __init__(self, models: Mapping[str, OpenAI]) -> None:
        """Take models by role: "answer", "extract" and "decide" are the judge's where they are not named."""
        self._models = {role: models.get(role, models["judge"]) for role in SERVED}
        self.model = self._models["answer"].model
        self.judge_model: str | None = self._models["judge"].model
        self.concurrency = min(one.concurrency for one in self._models.values())

    @property
    def named(self) -> str:
        """The models by role, as a table's header names them."""
        return ", ".join(f"{role} {model.model}" for role, model in self._models.items())

    def complete(self, request: Complete) -> Reply:
        """Return the reply of the model of the request's role. Raise what that raises."""
        return self._models[request.role].complete(request)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What a settings file names, None where it does not. `backbone` serves every role in the place of `llm`."""

    llm: RoleModels
    mark: ChatModel | None = None
    second_judge: ChatModel | None = None
    backbone: RoleModels | None = None
    embedder: OpenAIEmbedder | None = None
    other_embedder: OpenAIEmbedder | None = None


def read_endpoints(path: Path, environ: Mapping[str, str]) -> Endpoints:
    """Return what a settings file names, with keys from the variables that it names. Raise ValueError with the reason.

    `[models.ROLE]` has `model`, and where it is not OpenAI's, `base_url`; `key` is the name of a variable, `price` the
    dollars per million input and output tokens. ROLE is judge, answer, extract, decide, mark or second_judge.
    `[backbone]` has the same fields, `[embedder]` and `[other_embedder]` also `dimension`.
    """
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    models = given.get("models", {})
    roles = (*SERVED, *JUDGES)
    if wrong := [*(given.keys() - TABLES), *(f"models.{role}" for role in models if role not in roles)]:
        raise ValueError(
            f"{path.name} has [{wrong[0]}]; expected {', '.join(sorted(TABLES))} and models.{'|'.join(roles)}"
        )
    if "judge" not in models:
        raise ValueError(f"{path.name} has no [models.judge]; it serves every role that has no model of its own")
    made = {role: _model(f"models.{role}", one, environ) for role, one in models.items()}
    swapped = given.get("backbone")
    return Endpoints(
        RoleModels(made),
        made.get("mark"),
        made.get("second_judge"),
        None if swapped is None else RoleModels({"judge": _model("backbone", swapped, environ)}),
        _embedder("embedder", given.get("embedder"), environ),
        _embedder("other_embedder", given.get("other_embedder"), environ),
    )


def _checked(name: str, given: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    if wrong := sorted(given.keys() - FIELDS):
        raise ValueError(f"[{name}] has {wrong[0]}; expected {', '.join(sorted(FIELDS))}")
    if "model" not in given:
        raise ValueError(f"[{name}] has no model")
    variable = given.get("key")
    if variable is not None and variable not in environ:
        raise ValueError(f"[{name}] takes its key from {variable}, which is not set")
    key = {} if variable is None else {"api_key": environ[variable]}
    return {"model": given["model"], "base_url": given.get("base_url"), **key}


def _model(name: str, given: Mapping[str, Any], environ: Mapping[str, str]) -> OpenAI:
    prices = {given["model"]: tuple(given["price"])} if "price" in given and "model" in given else {}
    return OpenAI(**_checked(name, given, environ), prices=prices)


def _embedder(name: str, given: Mapping[str, Any] | None, environ: Mapping[str, str]) -> OpenAIEmbedder | None:
    if given is None:
        return None
    return OpenAIEmbedder(**_checked(name, given, environ), dimension=given.get("dimension", 0))
