"""Fetch htmx from npm into the explorer, and check its digests against those of NOTICE. Needs npm."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from base64 import b64encode
from hashlib import sha256, sha512
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "evimem" / "pages" / "static"


def main() -> int:
    """Fetch the version that NOTICE names; return 1 where a digest differs."""
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8").partition("\nhtmx\n")[2]
    version, package, content = (
        re.findall(rf"^  {name} +(\S+)", notice, re.MULTILINE)[0] for name in ("version", "package", "sha256")
    )
    with TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", f"htmx.org@{version}", "--silent"], cwd=folder, check=True)
        (archive,) = Path(folder).glob("*.tgz")
        got = "sha512-" + b64encode(sha512(archive.read_bytes()).digest()).decode()
        with tarfile.open(archive) as held:
            member = held.extractfile("package/dist/htmx.min.js")
            script = member.read() if member else b""
    if (got, sha256(script).hexdigest()) != (package, content):
        sys.stderr.write(
            f"the digests of htmx {version} are not those of NOTICE: {got}, {sha256(script).hexdigest()}\n"
        )
        return 1
    (STATIC / f"htmx-{version}.min.js").write_bytes(script)
    return 0


if __name__ == "__main__":
    sys.exit(main())
