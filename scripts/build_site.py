"""Build the documentation site into build/site: `python scripts/build_site.py`.

The pages of docs/, the generated reference, and the pages that stand at the root of the project are gathered in
build/site-source, where links between them are made to hold; Zensical turns them into HTML and fails for any warning.
`--source-only` leaves out that last step.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from scripts.python_reference import pages as reference_pages  # noqa: E402 - found from the root

SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
FROM_ROOT: Mapping[str, str] = {  # pages that stand elsewhere in the project, by their path in the site
    "security.md": "SECURITY.md",
    "changelog.md": "CHANGELOG.md",
    "support.md": "SUPPORT.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "benchmarks/index.md": "benchmarks/README.md",
    "benchmarks/research.md": "benchmarks/RESEARCH.md",
    "license.md": "NOTICE",
}
PROGRAMS = ROOT / "examples"
LINK = re.compile(r"(?P<label>!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^()\s]+)\)")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """Return the Markdown of every page by its path in the site, its links made to hold there."""
    origin = {path.relative_to(ROOT / "docs").as_posix(): path.relative_to(ROOT).as_posix()
              for path in sorted((ROOT / "docs").rglob("*.md"))} | dict(FROM_ROOT)  # fmt: skip
    made = {}
    for page, source in origin.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        made[page] = relink(f"# Notices\n\n{text}" if source == "NOTICE" else text, source, page, origin)
    made |= reference_pages()
    made["examples.md"] = examples_page()
    return made


def relink(text: str, source: str, page: str, origin: Mapping[str, str]) -> str:
    """Return a text with its links between files of the project as links between pages.

    A link to a file that is no page becomes its label and path: the site stands by itself.
    """
    places = {held: at for at, held in origin.items()} | {"examples/README.md": "examples.md", "docs": "index.md"}

    def linked(found: re.Match[str]) -> str:
        target, _, anchor = found["target"].partition("#")
        if not target or ":" in target:
            return found[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        at = places.get(file) or ("examples.md" if file.startswith("examples") else None)
        if at is None and file.startswith(("docs/", "benchmarks/plots/")):
            at = file.removeprefix("docs/")
        if at is None:
            return f"{found['label'][1:-1]} (`{file}`)" if found["label"][1:-1] != file else f"`{file}`"
        where = posixpath.relpath(at, posixpath.dirname(page) or ".")
        return f"{found['label']}({where}{'#' + anchor if anchor else ''})"

    parts = CODE.split(text)
    return "".join(part if at % 2 else LINK.sub(linked, part) for at, part in enumerate(parts))


def examples_page() -> str:
    """Return one page with every program of examples/."""
    text = (PROGRAMS / "README.md").read_text(encoding="utf-8")
    lines = [LINK.sub(lambda found: f"{found['label']}(#{slug(found['target'])})", text)]
    for path in sorted(PROGRAMS.iterdir()):
        if path.suffix in {".py", ".json"}:
            language = "python" if path.suffix == ".py" else "json"
            lines += [
                f"## {path.name} {{#{slug(path.name)}}}\n\n```{language}\n{path.read_text(encoding='utf-8')}```\n"
            ]
    return "\n".join(lines)


def slug(name: str) -> str:
    """Return the anchor of a file's section."""
    return re.sub(r"\W", "-", name)


def navigation() -> Iterator[tuple[str, str, str]]:
    """Yield section, title and path of each page in the order of the site's navigation."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    for entry in config["project"]["nav"]:
        ((section, held),) = entry.items()
        for one in [entry] if isinstance(held, str) else held:
            ((title, path),) = one.items()
            yield section, title, path


def summary(text: str) -> str:
    """Return the first sentence of a page after its title, without markup."""
    body = re.sub(r"<!--.*?-->|^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).partition("\n")[2].strip()
    first = next((one for one in re.split(r"\n\s*\n", body) if one[:1] not in "#|!-"), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split())).replace("**", "")
    return re.split(r"(?<=[.])\s(?=[A-Z`])", plain)[0].rstrip(":")


def llms_text(made: Mapping[str, str]) -> str:
    """Return llms.txt: the project in a sentence, and every page with its first sentence, as Markdown."""
    lines = ["# evimem", "", "> " + summary(made["index.md"]), ""]
    section = None
    for held, title, path in navigation():
        if held != section:
            lines += [f"## {held}", ""] if section is None else ["", f"## {held}", ""]
            section = held
        lines.append(f"- [{title}]({path}): {summary(made[path])}")
    return "\n".join(lines) + "\n"


def write_source(folder: Path) -> None:
    """Write every page, picture and llms.txt into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    made = pages()
    for path, text in {**made, "llms.txt": llms_text(made)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")
    shutil.copytree(ROOT / "benchmarks" / "plots", folder / "benchmarks" / "plots")
    for extra in ("stylesheets",):
        if (ROOT / "docs" / extra).exists():
            shutil.copytree(ROOT / "docs" / extra, folder / extra)


def main() -> int:
    """Gather the pages and build them; return the exit code of Zensical."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--source-only", action="store_true", help="gather the pages, and build nothing")
    given = options.parse_args()
    write_source(SOURCE)
    if given.source_only:
        return 0
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--clean", "--strict"]
    code = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "NO_COLOR": "1"}).returncode
    if code == 0:
        for page in SOURCE.rglob("*.md"):  # beside each HTML page its Markdown, to which llms.txt leads
            target = SITE / page.relative_to(SOURCE)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target)
    return code


if __name__ == "__main__":
    sys.exit(main())
