"""Take docs/pictures/terminal.png: what a question prints on a terminal, in Debian's Chromium.

`python scripts/picture_terminal.py` runs the commands on the example "friends" in a pseudo-terminal. Needs chromium.
"""

from __future__ import annotations

import html
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import evimem
from evimem.loaders.examples import load_example

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "terminal.png"
WIDE, HIGH = 980, 630  # pixels
COMMANDS = (
    ["ask", "friends.evimem", "When did Mira adopt her puppy?"],
    ["ask", "friends.evimem", "Which exhaust did Rasmus weld?"],
    ["block", "friends.evimem", "Suggest a dinner for Tomas and Mira.", "--tokens", "200"],
)
STYLES = {"1": "font-weight:bold", "2": "opacity:.65", "3": "font-style:italic", "4": "text-decoration:underline"}
COLOURS = {"31": "#f7768e", "32": "#9ece6a", "33": "#e0af68", "34": "#7aa2f7", "35": "#bb9af7", "36": "#7dcfff"}
PAGE = (
    "<meta charset=utf-8><body style='margin:0;background:#1a1b26;color:#c8d0f0'>"
    "<pre style='margin:24px;font:15px/1.45 monospace;white-space:pre-wrap'>{}</pre>"
)


def main() -> int:
    """Write the picture."""
    with TemporaryDirectory() as folder:
        with evimem.open(Path(folder) / "friends.evimem") as memory:
            memory.extend(load_example("friends"))
            memory.enrich()
        shown = "".join(printed(words, Path(folder)) for words in COMMANDS)
        page = Path(folder) / "page.html"
        page.write_text(PAGE.format(shown), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDE},{HIGH}"]
        subprocess.run(
            ["chromium", *options, f"--screenshot={PICTURE}", page.as_uri()], check=True, capture_output=True
        )
    return 0


def printed(words: list[str], folder: Path) -> str:
    """Return a command line and what it prints on a terminal, as HTML."""
    quoted = " ".join(f'"{word}"' if " " in word else word for word in words)
    main_end, program_end = pty.openpty()
    command = [sys.executable, "-m", "evimem", *words]
    with subprocess.Popen(
        command,
        stdout=program_end,
        stderr=program_end,
        cwd=folder,
        env={**os.environ, "COLUMNS": "96", "TERM": "xterm"},
    ) as process:
        os.close(program_end)
        held = b""
        try:
            while part := os.read(main_end, 65_536):
                held += part
        except OSError:  # the program has closed its end
            pass
        process.wait()
    os.close(main_end)
    text = re.sub(r"\r(?!\n)[^\n]*\x1b\[K", "", held.decode()).replace("\r\n", "\n")
    return f"<b>$ evimem {html.escape(quoted)}</b>\n{coloured(text)}\n"


def coloured(text: str) -> str:
    """Return a text with ANSI colours as HTML."""
    made, is_open = [], False
    for at, part in enumerate(re.split(r"\x1b\[([\d;]*)m", text)):
        if not at % 2:
            made.append(html.escape(re.sub(r"\x1b\[[\d;]*\w", "", part)))
            continue
        made.append("</span>" if is_open else "")
        codes = [code for code in part.split(";") if code not in {"", "0"}]
        styles = [STYLES.get(code) or (f"color:{COLOURS[code]}" if code in COLOURS else "") for code in codes]
        is_open = bool(codes)
        made.append(f"<span style='{';'.join(filter(None, styles))}'>" if codes else "")
    return "".join(made)


if __name__ == "__main__":
    sys.exit(main())
