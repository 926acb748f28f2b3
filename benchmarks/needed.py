"""Fit how likely the reply to a request needs a line: `python -m benchmarks.needed`.

Requests to six chats (`requests_chats`), four others (`requests_fresh`) and every other user of
`benchmarks.preferences` name the turns that a good reply needs. What tells these from the other turns that a block
finds (`evimem.page.bearing.need_signals`) is fitted by a logistic model, and how far it puts needed turns in front is
printed for the other users and the chats of `requests_later` and `requests_marked`, which it does not see. With
`--write` it goes to `evimem/page/bearing.npy`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evimem
from evimem.page import compose

from .bearing import write_models
from .logistic import newton
from .preferences import build_users
from .requests import Request, read_requests, write_block

HERE = Path(__file__).parent
FITTED, HELD_OUT = ("requests_chats", "requests_fresh"), ("requests_later", "requests_marked")
TOKENS = 1500
RIDGE = 1.0
PREFERENCE_WEIGHT = (
    0.5  # of a turn of a user with preferences, who have more turns than other chats, beside one of these
)
PLACES = (8, 12, 20, 30)


@dataclass(frozen=True, slots=True)
class Measured:
    """The turns that a block finds for a request: their signals, and how far each is needed, 0 to 1."""

    source: str
    signals: NDArray[np.float64]
    needed: NDArray[np.float64]


def measure(source: str, turns: Sequence[evimem.Turn], requests: Sequence[Request]) -> Iterator[Measured]:
    """Yield what a block finds for each request to a chat that is asked for more than one value."""
    by_id = {turn.id: turn for turn in turns}
    seen: list[dict[str, tuple[float, ...]]] = []
    kept = compose.rank_by_need

    def record(*found: Any) -> Any:
        seen.append(compose.signals_of_need(*found))
        return kept(*found)

    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(turns, strict=True)
        compose.rank_by_need = record
        try:
            for request in requests:
                seen.clear()
                write_block(memory, request, TOKENS)
                if seen:
                    shares = _shares_of_needs(request, by_id)
                    rows = np.array(list(seen[-1].values()))
                    yield Measured(source, rows, np.array([shares.get(turn_id, 0.0) for turn_id in seen[-1]]))
        finally:
            compose.rank_by_need = kept


def _shares_of_needs(request: Request, turns: Mapping[str, evimem.Turn]) -> dict[str, float]:
    """Return by turn how far it is needed: one of two that tell a need counts half, a user's before an assistant's."""
    shares: dict[str, float] = {}
    for need in request.needs:
        those = [one for one in need if turns[one].role == "user"] or need
        shares |= {one: max(shares.get(one, 0.0), 1 / len(those)) for one in those}
    return shares


def measure_preferences() -> Iterator[Measured]:
    """Yield what a block finds for the requests of users who told preferences."""
    for number, user in enumerate(build_users()):
        asked_at = (user.turns[-1].time + timedelta(days=1)).isoformat()
        told = {
            preference: next(one.id for one in user.turns if preference in one.text) for _, preference in user.pairs
        }
        requests = [Request("", message, asked_at, "applies", ((told[one],),), ()) for message, one in user.pairs]
        yield from measure(f"preferences {number % 2}", user.turns, requests)


def fit(rows: Sequence[Measured]) -> NDArray[np.float64]:
    """Return the weights of the signals of a needed turn, the bias last."""
    signals, needed = np.concatenate([one.signals for one in rows]), np.concatenate([one.needed for one in rows])
    counts = np.concatenate(
        [np.full(len(one.needed), PREFERENCE_WEIGHT if "preferences" in one.source else 1.0) for one in rows]
    )
    scale = signals.std(axis=0) + 1e-9
    weights = newton(signals / scale, needed, counts, RIDGE)
    return np.r_[weights[:-1] / scale, weights[-1]]


def shares_in_front(rows: Sequence[Measured], weights: NDArray[np.float64]) -> list[float]:
    """Return the shares of needed turns that stand among the first by their odds, for each number of `PLACES`."""
    places: list[int] = []
    for one in rows:
        odds = one.signals @ weights[:-1]
        places += [int((odds > odds[at]).sum()) for at in np.flatnonzero(one.needed)]
    return [float(np.mean(np.array(places) < most)) for most in PLACES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the model that ships")
    options = parser.parse_args()
    rows = [
        one
        for folder in (*FITTED, *HELD_OUT)
        for _, turns, requests in read_requests(HERE / folder)
        for one in measure(folder, turns, requests)
    ]
    rows += measure_preferences()
    weights = fit([one for one in rows if one.source in {*FITTED, "preferences 0"}])
    print(f"needed turns among the first {', '.join(map(str, PLACES))}")
    for source in (*HELD_OUT, "preferences 1"):
        shares = shares_in_front([one for one in rows if one.source == source], weights)
        print(f"  {source:16} {' '.join(f'{share:.3f}' for share in shares)}")
    if options.write:
        write_models({"needed": weights})


if __name__ == "__main__":
    main()
