"""An exception of a user's extractor loses nothing; one of a progress callback propagates unchanged."""

import pytest

import evimem
from evimem import Fact, Turn
from evimem.extract.rule_extractor import RuleExtractor


class Moody(RuleExtractor):
    """Raises on request."""

    def __init__(self) -> None:
        super().__init__()
        self.error: Exception | None = None

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        if self.error is not None:
            raise self.error
        return super().extract(turn)


@pytest.mark.parametrize(
    "error", [ValueError("no such tense"), KeyError("verb"), RuntimeError("out of memory")], ids=repr
)
def test_an_exception_of_an_extractor_changes_nothing_and_is_told_by_its_type(tmp_path, error):
    extractor = Moody()
    with evimem.open(tmp_path / "m.evimem", extractor=extractor) as memory:
        memory.add("Mira", "I bought a kite.", time="2024-03-12T12:00")
        facts = memory.facts([turn.id for turn in memory.turns()])
        extractor.error = error
        assert "cannot be read" in memory.check().problems[0]
        memory.rebuild()
        assert memory.facts([turn.id for turn in memory.turns()]) == facts != ()
        assert [type(error).__name__ in one for one in memory.check().problems] == [True]
        extractor.error = None
        memory.enrich()
        assert memory.facts([turn.id for turn in memory.turns()]) == facts
        assert memory.check().problems == ()


def test_an_exception_of_a_progress_callback_propagates(tmp_path):
    def progress(turns: int) -> None:
        raise ValueError("the window was closed")

    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "I bought a kite.", time="2024-03-12T12:00")
        with pytest.raises(ValueError, match="the window was closed"):
            memory.check(progress=progress)
