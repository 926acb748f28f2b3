"""Change a module one place at a time, and say which changes no test notices.

`python -m tests.mutants evimem/judging/tracker.py tests/judging tests/statements` prints each change that stays green.
For what tests/breaks does not hold: a gate of a promise has breaks of its own there.
"""

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

ROOT = Path(__file__).parents[1]
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def changed(source: str) -> Iterator[tuple[int, str]]:
    """Yield the source with one operator, number or truth changed, and the line of it, for every such place."""
    for place in range(sum(1 for _ in ast.walk(ast.parse(source)))):
        tree = ast.parse(source)
        node = list(ast.walk(tree))[place]
        if isinstance(node, ast.Compare):
            node.ops[0] = OTHER[type(node.ops[0])]()
        elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in OTHER:
            node.op = OTHER[type(node.op)]()
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            node.value = not node.value if isinstance(node.value, bool) else node.value + 1
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.op = ast.UAdd() if isinstance(node.operand, ast.Constant) else ast.Not()
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        else:
            continue
        yield getattr(node, "lineno", 0), ast.unparse(tree)


def main(module: str, *tests: str) -> int:
    """Return how many changes no test noticed."""
    unseen = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("evimem", "tests", "prompts", "benchmarks", "examples"):
            copytree(ROOT / part, copy / part)
        (copy / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        source = (ROOT / module).read_text(encoding="utf-8")
        for line, mutant in changed(source):
            if "@dataclass" in source.splitlines()[line - 1]:
                continue  # whether it is frozen is nothing that a test of behaviour sees
            (copy / module).write_text(mutant, encoding="utf-8")
            run = subprocess.run(
                command, check=False, cwd=copy, env={**os.environ, "PYTHONPATH": folder}, capture_output=True
            )
            if run.returncode == 0:
                unseen += 1
                print(f"{module}:{line}: no test notices a change of `{source.splitlines()[line - 1].strip()}`")  # noqa: T201
    return unseen


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) > 0)
