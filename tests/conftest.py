"""Profiles for property tests, and a fresh memory."""

import importlib.util
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import evimem
from evimem.loaders.examples import load_example
from tests import postgres_server
from tests.copies import copied

settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("EVIMEM_HYPOTHESIS", "ci"))


# A shell that starts the tests in the background has them ignore interrupts, and what they start would too.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Apply the break that EVIMEM_BREAK names (see tests/breaks), before any test module is imported."""
    if "EVIMEM_BREAK" in os.environ:
        from tests.breaks import registry  # noqa: PLC0415 - its breaks import all of the package

        registry.apply_named()


# Files and folders of tests whose parts take seconds each: left out of the fast suite (see CONTRIBUTING.md).
SLOW = (
    "reliability", "golden", "breaks", "cli", "llm/test_fuzz.py", "llm/test_end_to_end.py", "openai", "examples",
    "adapters/test_mcp.py", "server", "pages/test_browser.py", "pages/test_commands.py",
    "offline/test_examples.py", "api/test_pool.py", "api/test_lending.py",
    "api/test_hostile_arguments.py", "api/test_build.py", "api/test_linear_time.py", "index/test_ranking.py",
    "index/test_vector_index.py", "index/test_saved_index.py", "index/test_scenes.py", "index/test_sketches.py",
    "extract/test_contract.py", "times/test_any_text.py", "store/test_sealing.py", "store/test_ann.py", "test_scale.py",
    "benchmarks/test_processes.py", "docs/test_blocks.py",
)  # fmt: skip
HERE = Path(__file__).parent
# Optional packages, with the tests that cannot be imported without them.
NEEDED = {
    "hnswlib": ("store/test_fact_graph.py",),
    "httpx2": ("adapters/test_mcp.py", "server"),
    "openai": ("api/test_streaming.py", "breaks"),
    "psycopg": ("types/test_pickling.py",),
    "rank_bm25": ("statements/test_memr3.py", "statements/test_memr3_claims.py", "store/test_store_contract.py"),
    "spacy": ("extract/test_contract.py", "extract/test_spacy.py"),
    "starlette": ("examples/test_examples.py", "pages", "server"),
    "uvicorn": ("pages", "server"),
}
MISSING = {package: paths for package, paths in NEEDED.items() if importlib.util.find_spec(package) is None}
collect_ignore = [path for paths in MISSING.values() for path in paths]


def pytest_report_header() -> list[str]:
    """Name the tests that are left out for want of an optional package."""
    return [f"without {package} are left out: {', '.join(paths)}" for package, paths in MISSING.items()]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, and let a nightly one run as long as it takes: the limit is for those that should end soon."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.path.relative_to(HERE).as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.timeout(0))


@pytest.fixture(scope="session")
def friends_file(tmp_path_factory):
    """A closed memory of the example "friends": only to be read, or copied (`friends_path`)."""
    path = tmp_path_factory.mktemp("friends") / "friends.evimem"
    with evimem.open(path) as memory:
        memory.extend(load_example("friends"), strict=True)
        memory.enrich()
    return path


@pytest.fixture
def friends_path(friends_file, tmp_path):
    """A copy of that memory, to be changed."""
    return copied(friends_file, tmp_path / "m.evimem")


@pytest.fixture
def friends(friends_path):
    with evimem.open(friends_path) as memory:
        yield memory


@pytest.fixture
def memory(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        yield memory


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a PostgreSQL server, the same for every process of a run: use users of your own."""
    postgres_server.need()
    folder = tmp_path_factory.getbasetemp()
    worker = "PYTEST_XDIST_WORKER" in os.environ
    home = postgres_server.started(*((folder.parent, os.getppid()) if worker else (folder, os.getpid())))
    return postgres_server.address(home)


@pytest.fixture(scope="session")
def pooled(postgres: str) -> str:
    """The address of a pooler before that server."""
    return postgres_server.pooled(Path(postgres.rpartition("=")[2]))
