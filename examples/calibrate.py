"""Fit probabilities to questions of your own: `python examples/calibrate.py mira.evimem questions.jsonl`.

A line of the file is {"question": "...", "answer": "..."}, with null where the memory holds none; fifty at the least.
"""

from __future__ import annotations

import sys
from pathlib import Path

import evimem
from evimem.calibration import read_labelled


def main() -> None:
    """Fit, and show what the confidence of an answer is worth now."""
    questions = list(read_labelled(Path(sys.argv[2])))
    with evimem.open(sys.argv[1]) as memory:
        fitted = memory.calibrate(questions)
        print(f"fitted to {len(questions)} questions; the memory keeps the map, and no word of them")
        print(f"calibration error {fitted.ece_before:.3f} before, {fitted.ece:.3f} now (of questions left out)")
        print(f"abstains below {fitted.abstain_below:.2f}: refuses {fitted.caught:.0%} of what nobody told")
        for one in questions[:3]:
            answer = memory.ask(one.question)
            print(f"{answer.kind:9} {answer.confidence:.2f}  {one.question}")


if __name__ == "__main__":
    main()
