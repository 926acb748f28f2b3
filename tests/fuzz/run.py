"""Fuzz a target by coverage: `python -m tests.fuzz.run import --seconds 900 --corpus DIR`.

Needs `pip install atheris` (libFuzzer for Python), which is no dependency of the tests. Inputs that reach new code are
kept in the corpus, so that the next run goes on from there; one that fails is written to a file `crash-...` there, and
`python -m tests.fuzz.run import --repeat FILE` runs it alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["evimem"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, default=Path("fuzz-corpus"))
    parser.add_argument("--repeat", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzzed = TARGETS[options.target](Path(folder))
        if options.repeat:
            fuzzed.target(options.repeat.read_bytes())
            return
        corpus = options.corpus / options.target
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(fuzzed.seeds):
            (corpus / f"seed-{number}").write_bytes(seed)
        flags = (
            f"-max_total_time={options.seconds}",
            f"-artifact_prefix={options.corpus}/{options.target}-",
            "-timeout=20",
            "-rss_limit_mb=2048",
            "-max_len=4096",
        )
        atheris.Setup([sys.argv[0], *flags, str(corpus)], fuzzed.target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
