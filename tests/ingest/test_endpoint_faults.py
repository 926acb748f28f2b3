"""Provider faults: those of the endpoint give no turn up and end the run, those of a turn concern that turn alone."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem.errors import EmbedderError, ModelError, ModelTimeout, ModelUnavailable, PromptTooLong, ReplyError
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.doubles import WordEmbedder
from tests.sizes import few, share

DAY = 86_400.0


def status(code: int, **more: float) -> Callable[[], Exception]:
    return lambda: ModelUnavailable(f"status {code}", retryable=code >= 500 or code == 429, status=code, **more)


OF_THE_TEXT: dict[str, Callable[[], Exception]] = {
    **{str(code): status(code) for code in (400, 403, 413, 422, 451)},
    "too long": lambda: PromptTooLong("long", retryable=False),
    "filtered": lambda: ReplyError("extract", "the provider's content filter cut it", "", refused=True),
    "unreadable": lambda: ReplyError("extract", "it is empty", ""),
}
OF_THE_SERVER: dict[str, Callable[[], Exception]] = {
    **{str(code): status(code) for code in (404, 408, 500, 502, 503)},
    "timeout": lambda: ModelTimeout("too late"),
    "unreachable": lambda: ModelUnavailable("could not be reached", retryable=True),
}
OF_THE_ACCOUNT = {str(code): status(code) for code in (401, 402, 429)} | {"later": status(503, retry_after=60.0)}
FAULTS = OF_THE_TEXT | OF_THE_SERVER | OF_THE_ACCOUNT


class Provider(ScriptedModel):
    """A model that fails for all requests while it is `away`, and for those that hold a flagged word."""

    concurrency = 4

    def __init__(self, fault: str, *, away: bool = False) -> None:
        super().__init__(then=self.reply)
        self.fault, self.away = FAULTS[fault], away

    def reply(self, request: Complete) -> str:
        if self.away or "hammer" in request.prompt:
            raise self.fault()
        return json.dumps({"facts": [], "keywords": [], "tag": "", "topic": ""})


class Nights:
    """A memory that is enriched once a day; `failures` are the errors that were raised."""

    def __init__(self, path, **of_memory):
        self.now, self.failures = 1e9, []
        self.memory = evimem.open(path, clock=lambda: self.now, **of_memory)

    def enrich(self, times=1):
        for _ in range(times):
            try:
                self.memory.enrich()
            except (ModelError, EmbedderError) as error:
                self.failures.append(error)
            self.now += DAY

    def told(self, count, flagged=()):
        said = ("Then he hit the burglar with a hammer, number {}.", "I bought house number {} in Split.")
        times = (f"2024-05-01T10:{n:02}" for n in range(count))
        self.memory.extend(
            evimem.Turn(f"t{n}", "s", "Vera", said[n not in flagged].format(n), time) for n, time in enumerate(times)
        )

    def left(self):
        health = self.memory.health()
        return health.pending.get("extract", 0), health.failed.get("extract", 0)


@pytest.mark.parametrize("fault", share(sorted(FAULTS), 3, "away"))
def test_an_endpoint_that_fails_for_all_turns_ends_each_run_soon_and_costs_no_turn(tmp_path, fault):
    provider = Provider(fault, away=True)
    nights = Nights(tmp_path / "m.evimem", llm=provider)
    nights.told(40)
    nights.enrich(6)
    assert len(nights.failures) == 6
    assert len(provider.requests) <= 6 * 20
    assert nights.left() == (40, 0)
    provider.away = False
    nights.enrich()
    assert (nights.left(), len(nights.failures)) == ((0, 0), 6)
    nights.memory.close()


FLAGGED = [(fault, at) for at in ([0], [3], [3, 4, 5, 6, 7], [1, 9, 11]) for fault in OF_THE_TEXT]


@pytest.mark.parametrize(("fault", "flagged"), share(FLAGGED, 5, "flagged"), ids=str)
def test_flagged_turns_are_given_up_alone_and_no_run_fails_for_them(tmp_path, fault, flagged):
    """The four turns after one are asked about with it as their context."""
    nights = Nights(tmp_path / "m.evimem", llm=Provider(fault))
    nights.told(12, flagged)
    nights.enrich(2)
    assert nights.left() == (len(flagged), 0)
    nights.enrich(2)
    assert (nights.left(), nights.failures) == ((0, len(flagged)), [])
    nights.memory.close()


@pytest.mark.parametrize("fault", share(sorted(OF_THE_SERVER), 3, "one turn"))
def test_a_server_that_fails_for_one_turn_alone_ends_no_run_once_that_is_known(tmp_path, fault):
    nights = Nights(tmp_path / "m.evimem", llm=Provider(fault))
    nights.told(12, [3])
    nights.enrich(12)
    assert nights.left() == (0, 1)
    assert 1 <= len(nights.failures) <= 5  # when it first fails for the turn, and for the four that have it as context
    nights.memory.close()


@few(15)
@given(
    st.sampled_from(sorted(FAULTS)),
    st.sampled_from(sorted(OF_THE_TEXT)),
    st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.booleans()), min_size=1, max_size=6),
)
def test_after_any_outages_every_turn_is_read_that_the_endpoint_takes(tmp_path_factory, outage, fault, days):
    """Each day some turns come, flagged or not, while the endpoint is away or not."""
    provider = Provider(fault)
    nights = Nights(tmp_path_factory.mktemp("m") / "m.evimem", llm=provider)
    flagged = count = 0
    for day, (away, new, is_flagged) in enumerate(days):
        provider.away, provider.fault = away, FAULTS[outage if away else fault]
        words = "Then he hit the burglar with a hammer." if is_flagged else "I bought a house in Split."
        nights.memory.extend(
            evimem.Turn(f"{day}-{n}", f"day {day}", "Vera", f"{words} Number {n}.", f"2024-05-{day + 1:02}T10:0{n}")
            for n in range(new)
        )
        count, flagged = count + new, flagged + new * is_flagged
        nights.enrich()
        assert nights.left()[1] <= flagged
    provider.away, provider.fault = False, FAULTS[fault]
    nights.enrich(5)
    assert nights.left() == (0, flagged)
    nights.memory.close()


class Refusing(WordEmbedder):
    """An embedder far away that refuses texts with a flagged word, or all, as a provider does."""

    remote = True

    def __init__(self, *, all_of_them: bool = False, of_texts: bool | None = True) -> None:
        super().__init__(16)
        self.all_of_them, self.of_texts, self.requests = all_of_them, of_texts, 0

    def embed(self, texts):
        self.requests += 1
        if self.all_of_them or any("hammer" in text for text in texts):
            raise EmbedderError("no embeddings: status 400", retryable=False, of_texts=self.of_texts)
        return super().embed(texts)


def test_an_embedder_that_refuses_every_text_costs_two_requests_a_run_and_no_text(tmp_path):
    """It was asked 399 times for 200 texts, and each was given up after four runs."""
    embedder = Refusing(all_of_them=True)
    nights = Nights(tmp_path / "m.evimem", embedder=embedder)
    nights.told(60)
    nights.enrich(6)
    assert (embedder.requests, len(nights.failures)) == (12, 6)
    embedder.all_of_them = False
    nights.enrich()
    assert (nights.memory.health().pending, nights.memory.health().failed) == ({}, {})
    nights.memory.close()


@pytest.mark.parametrize("of_texts", [True, None])
def test_a_text_that_an_embedder_fails_for_is_given_up_alone(tmp_path, of_texts):
    nights = Nights(tmp_path / "m.evimem", embedder=Refusing(of_texts=of_texts))
    nights.told(30, [7])
    nights.enrich()
    assert nights.memory.health().pending["vector"] == 1
    nights.enrich(5)
    assert (nights.memory.health().failed["vector"], nights.failures) == (1, [])
    nights.memory.close()
