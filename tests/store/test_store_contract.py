"""The contract of `Store`, tested for every implementation in STORES."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from evimem import InvalidTurn, StoreCorrupt, TurnConflict, UnknownTurn
from evimem.api.open import key_of
from evimem.embedding.checked_embedder import embed_checked
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.flow import Effect, Embed, Flow, run
from evimem.index.weights import BM25
from evimem.ingest.add import Ingestion, read_facts
from evimem.loaders.examples import load_example
from evimem.protocols import Store
from evimem.query.find_turns import build_query
from evimem.raw.validate import TurnValidator
from evimem.store.keeper import Keeper
from evimem.store.sqlite import SqliteStore
from evimem.text.terms import terms
from evimem.types.results import AddReport
from evimem.types.stored import ANY_FACT, Entry, FactFilter, Listing, Scope
from evimem.types.values import Hit, Query, TimeSpan, Turn
from tests import postgres_server
from tests.doubles import HomeExtractor
from tests.reference.memory_store import MemoryStore

READ = partial(read_facts, HomeExtractor())
EMBEDDER = StaticEmbedder()
NOON = datetime(2024, 3, 12, 12)
MAY = TimeSpan(datetime(2023, 5, 1), datetime(2023, 6, 1), "month", "May 2023")
PEOPLE, DAYS = ("Mira", "assistant"), ("s1", "s2", "s3")


def sqlite(folder: Path) -> Store:
    return SqliteStore(folder / "m.evimem", EMBEDDER.name, EMBEDDER.dimension)


STORES = ("sqlite", "in_memory", "on_server", "behind_a_pooler")


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    with ExitStack() as opened:

        def made(name: str) -> Store:
            if name == "in_memory":
                return MemoryStore(EMBEDDER.name, EMBEDDER.dimension)
            if name == "sqlite":
                return opened.enter_context(closing(sqlite(tmp_path)))
            address = request.getfixturevalue("postgres" if name == "on_server" else "pooled")
            store = on_server(address, str(tmp_path))
            return opened.enter_context(closing(store))

        yield made


def on_server(address: str, user: str) -> Keeper:
    from evimem.store.postgres_store import PostgresStore  # noqa: PLC0415 - the tests of files need no server

    return PostgresStore(address, key_of(user), EMBEDDER.name, EMBEDDER.dimension)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, make: Callable[[str], Store]) -> Store:
    return make(request.param)


@pytest.fixture
def stores(make: Callable[[str], Store]) -> list[Store]:
    return [make(name) for name in STORES[: 2 if postgres_server.missing() else 3]]


def drive(flow: Flow[object]) -> object:
    def perform(effect: Effect) -> object:
        assert isinstance(effect, Embed)
        return embed_checked(EMBEDDER, effect.texts)

    return run(flow, perform)


def keep(store: Store, turns: list[Turn], *, strict: bool = False, replace: bool = False) -> AddReport:
    report = drive(Ingestion(store, READ, strict=strict, replace=replace).store_batch(turns))
    assert isinstance(report, AddReport)
    return report


def wanted(store: Store, text: str, k: int = 10, exclude: Collection[str] = (), **filters: Any) -> Query:
    query = drive(build_query(store, text, k, Query("", exclude=frozenset(exclude), **filters)))
    assert isinstance(query, Query)
    return query


def find(store: Store, text: str, k: int = 10, **filters: object) -> list[Hit]:
    return list(store.recall(wanted(store, text, k, **filters)))


def said(text: str, *, id: str, at: int = 0, speaker: str = "Mira", session: str = "s1") -> Turn:
    return Turn(id, session, speaker, text, NOON + timedelta(minutes=at))


DIALOGUE = [
    said("We adopted a puppy last Friday.", id="a", at=0),
    said("What is the puppy called?", id="b", at=1, speaker="Tomas"),
    said("Biscuit, because of the colour.", id="c", at=2),
    said("I moved to Porto in May.", id="d", at=0, speaker="Tomas", session="s2"),
]


def test_a_turn_reads_back_verbatim(store: Store) -> None:
    turn = Turn("x", "s", "Mira", "  Caf\u00e9\n\x00 \ud83d ", NOON, "a dog", "user", {"tags": ["pet", 1]})
    keep(store, [turn])
    assert store.read(["x"]) == (turn,)


MISTYPED = ("Who adoptde it?", "the physioterapyst", "Bicsuit", "\ubbfc\uc218\uac00 \uc5b4\ub514")


def test_a_mistyped_word_finds_the_turn_that_has_it(store: Store) -> None:
    keep(
        store,
        [*DIALOGUE, said("The physiotherapist rang.", id="e", at=5), said("\ubbfc\uc218\ub294 \uc9d1", id="f", at=6)],
    )
    found = [find(store, text, k=1)[0] for text in MISTYPED]
    assert [hit.turn.id for hit in found] == ["a", "e", "c", "f"]
    assert all(hit.parts["related"] > 0 for hit in found)


def test_the_same_turn_twice_is_kept_once(store: Store) -> None:
    keep(store, DIALOGUE)
    report = keep(store, DIALOGUE)
    assert (report.added, report.existing, store.roster().counted) == (0, 4, 4)


def test_a_known_id_with_other_content_is_replaced_on_request(store: Store) -> None:
    keep(store, DIALOGUE)
    store.keep_setting("mine", "kept")
    changed = replace(DIALOGUE[0], text="We adopted a cat in May.")
    report = keep(store, [changed, DIALOGUE[1], said("New.", id="e", at=9)], replace=True)
    assert [status.outcome for status in report.statuses] == ["replaced", "exists", "added"]
    assert (report.replaced, report.added, report.existing) == (1, 1, 1)
    assert [turn.id for turn in store.turns()] == ["b", "c", "d", "a", "e"], "it counts as having arrived now"
    assert [turn.id for turn in store.turns(Listing("s1"))] == ["a", "b", "c", "e"]
    assert store.read(["a"])[0].text == changed.text
    assert find(store, "cat", k=1)[0].turn.id == "a"
    assert all("puppy" not in fact.text for fact in store.facts(["a"]))
    assert keep(store, [changed], replace=True).statuses[0].outcome == "exists"
    assert store.setting("mine") == "kept"


def test_turns_that_are_gone_are_erased_in_the_transaction_that_stores_others(store: Store) -> None:
    keep(store, DIALOGUE)
    report = store.write([Entry(TurnValidator()(said("New.", id="e", at=9)))], gone=[DIALOGUE[0].id, "unknown"])
    assert (report.added, report.erased) == (1, 1)
    assert [turn.id for turn in store.turns()] == [*(turn.id for turn in DIALOGUE[1:]), "e"]


def test_a_memory_whose_only_turn_is_replaced_keeps_its_settings_and_its_kind_of_times(store: Store) -> None:
    keep(store, DIALOGUE[:1])
    store.keep_setting("mine", "kept")
    aware = replace(DIALOGUE[0], time=datetime.fromisoformat("2024-03-12T12:00:00+01:00"))
    assert keep(store, [aware], replace=True).statuses[0].outcome == "refused"
    assert store.read(["a"])[0].text == DIALOGUE[0].text
    assert keep(store, [replace(DIALOGUE[0], text="We left.")], replace=True).replaced == 1
    assert store.setting("mine") == "kept"


def test_of_several_versions_of_a_turn_in_one_call_the_last_is_stored(store: Store) -> None:
    keep(store, DIALOGUE)
    versions = [replace(DIALOGUE[0], text=text) for text in ("We adopted a cat.", "We adopted a hen.")]
    fresh = [said("I had tea.", id="e", at=9), said("I had coffee.", id="e", at=9)]
    report = keep(store, [*versions, *fresh], replace=True)
    assert [status.outcome for status in report.statuses] == ["replaced", "exists", "added", "exists"]
    assert [turn.text for turn in store.read(["a", "e"])] == ["We adopted a hen.", "I had coffee."]
    back = keep(store, [versions[0], versions[1]], replace=True)
    assert [status.outcome for status in back.statuses] == ["exists", "exists"]


def test_a_strict_batch_that_cannot_be_stored_replaces_nothing(store: Store) -> None:
    keep(store, DIALOGUE)
    aware = Turn("z", "s3", "Mira", "Hello.", datetime.fromisoformat("2024-03-12T12:00:00+01:00"))
    with pytest.raises(InvalidTurn):
        keep(store, [replace(DIALOGUE[0], text="We adopted a cat."), aware], replace=True, strict=True)
    assert [turn.id for turn in store.turns()] == ["a", "b", "c", "d"]
    assert store.read(["a"])[0].text == DIALOGUE[0].text
    assert find(store, "puppy", k=1)[0].turn.text == DIALOGUE[0].text


def test_what_was_found_in_a_text_is_no_fact_of_the_text_that_replaced_it(store: Store) -> None:
    keep(store, DIALOGUE)
    old = Entry(store.read(["a"])[0], (replace(store.facts(["a"])[0], id="late", object="a lurcher"),))
    keep(store, [replace(DIALOGUE[0], text="We adopted a cat.")], replace=True)
    store.complete_jobs("extract", [old])
    assert all("lurcher" not in fact.text for fact in store.facts(["a"]))


def test_facts_and_edges_are_followed_within_a_scope_only(store: Store) -> None:
    turns = [said("I live in Leeds.", id="old"), said("I live in Porto.", id="new", at=9, session="s2")]
    keep(store, [*turns, said("I live in Ghent.", id="last", at=19, session="s2")])
    here = Scope("s2")
    assert [fact.turn_id for fact in store.about("Mira", 9, here).facts] == ["last", "new"]
    assert (store.about("Mira", 9).total, store.about("Mira", 9, Scope(speaker="Tomas")).total) == (3, 0)
    assert {hit.turn.id for hit in store.expand(["new"], 9)} == {"old", "last"}
    assert {hit.turn.id for hit in store.expand(["new"], 9, here)} == {"last"}
    assert store.expand(["last"], 9, Scope("s3")) == ()


def test_an_id_with_other_content_is_refused_and_says_so(store: Store) -> None:
    keep(store, DIALOGUE)
    changed = replace(DIALOGUE[0], text="We adopted a cat.")
    report = keep(store, [changed, said("Hello there.", id="e", at=9)])
    assert [status.outcome for status in report.statuses] == ["refused", "added"]
    assert "'a' is already stored with other content" in str(report.statuses[0].reason)
    assert store.read(["a"])[0].text == DIALOGUE[0].text


def test_a_strict_batch_is_kept_whole_or_not_at_all(store: Store) -> None:
    keep(store, DIALOGUE)
    with pytest.raises(TurnConflict):
        keep(store, [said("New.", id="e", at=9), replace(DIALOGUE[0], text="Other.")], strict=True)
    assert store.roster().counted == 4


def test_naive_and_aware_times_do_not_mix(store: Store) -> None:
    keep(store, DIALOGUE)
    aware = Turn("z", "s3", "Mira", "Hello.", datetime.fromisoformat("2024-03-12T12:00:00+01:00"))
    with pytest.raises(InvalidTurn, match="naive"):
        keep(store, [aware], strict=True)


def test_turns_without_ids_are_distinguished_by_occurrence(store: Store) -> None:
    turn = Turn("", "", "Mira", "Ha!", NOON)
    first, again = keep(store, [turn, turn]), keep(store, [turn, turn])
    assert (first.added, again.added, again.existing) == (2, 0, 2)
    assert store.read([first.statuses[0].id])[0].session == "2024-03-12"


def test_an_unknown_id_is_named(store: Store) -> None:
    for act in (
        lambda: store.read(["nope"]),
        lambda: store.contexts(["nope"], 1, 1),
        lambda: store.order(["nope"]),
        lambda: store.forget(["nope"]),
    ):
        with pytest.raises(UnknownTurn, match="'nope'"):
            act()


def test_turns_are_listed_in_dialogue_order_and_all_of_them_as_they_came(store: Store) -> None:
    keep(store, [DIALOGUE[2], DIALOGUE[3], DIALOGUE[0], DIALOGUE[1]])
    assert "".join(turn.id for turn in store.turns()) == "cdab"
    assert "".join(turn.id for turn in store.turns(Listing())) == "dabc", "of one time, in order of arrival"
    assert "".join(turn.id for turn in store.turns(Listing(session="s1", limit=2, newest=True))) == "bc"


def test_a_listing_is_the_filtered_whole_of_every_store(stores: list[Store]) -> None:
    chance = random.Random(11)
    turns = [
        said(
            f"Note {n}.", id=f"t{n}", at=chance.randrange(8), speaker=chance.choice(["Mira", "assistant"]), session=day
        )
        for n, (who, day) in enumerate((chance.choice(PEOPLE), chance.choice(DAYS)) for _ in range(60))
    ]
    for store in stores:
        keep(store, turns)
    arrived = {turn.id: number for number, turn in enumerate(turns)}
    times = st.none() | st.integers(-1, 9).map(lambda minutes: NOON + timedelta(minutes=minutes))
    listings = st.builds(
        Listing,
        session=st.sampled_from([None, "s1", "s3", "nowhere"]),
        speaker=st.sampled_from([None, "Mira", "assistant", "Nobody"]),
        role=st.sampled_from([None, "user", "assistant", "tool"]),
        before=times,
        after=times,
        limit=st.none() | st.integers(0, 70),
        newest=st.booleans(),
    )

    @given(listing=listings)
    def check(listing: Listing) -> None:
        wanted = [
            turn
            for turn in sorted(stores[0].turns(), key=lambda turn: (turn.time, arrived[turn.id]))
            if listing.session in (None, turn.session)
            and listing.speaker in (None, turn.speaker)
            and listing.role in (None, turn.role)
            and (listing.before is None or turn.time < listing.before)
            and (listing.after is None or turn.time >= listing.after)
        ]
        if listing.limit is not None:
            wanted = wanted[max(0, len(wanted) - listing.limit) :] if listing.newest else wanted[: listing.limit]
        assert all(list(store.turns(listing)) == wanted for store in stores)

    check()


def test_a_listing_longer_than_a_page_goes_on_where_the_page_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = sqlite(tmp_path)
    keep(store, [said(f"Note {n}.", id=f"t{n}", at=n // 4) for n in range(30)])
    monkeypatch.setattr("evimem.raw.turn_log._PAGE_TURNS", 7)
    assert [turn.id for turn in store.turns(Listing(session="s1"))] == [f"t{n}" for n in range(30)]
    last = Listing(session="s1", limit=20, newest=True)
    assert [turn.id for turn in store.turns(last)] == [f"t{n}" for n in range(10, 30)]


def test_the_last_turns_are_listed_without_reading_the_others(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.evimem", EMBEDDER.name, EMBEDDER.dimension)
    keep(store, [said(f"Note {n}.", id=f"t{n}", at=n) for n in range(30)])
    with closing(apsw.Connection(str(tmp_path / "m.evimem"))) as db:
        db.execute("UPDATE turn SET text = 'altered' WHERE id = 't9'")
    assert [turn.id for turn in store.turns(Listing("s1", limit=20, newest=True))] == [f"t{n}" for n in range(10, 30)]
    assert len(list(store.turns(Listing("s1", limit=9)))) == 9
    with pytest.raises(StoreCorrupt, match="'t9'"):
        list(store.turns(Listing("s1", limit=10)))


def test_turns_are_found_by_id_and_none_for_an_unknown_one(store: Store) -> None:
    keep(store, DIALOGUE)
    assert store.find(["c", "nope", "a"]) == (*store.read("c"), None, *store.read("a"))


def test_search_returns_exactly_k_distinct_turns(store: Store) -> None:
    keep(store, DIALOGUE)
    for k in (1, 3, 4, 9):
        ids = [hit.turn.id for hit in find(store, "puppy", k)]
        assert len(ids) == len(set(ids)) == min(k, 4)


def test_an_answer_is_found_next_to_its_question(store: Store) -> None:
    keep(store, DIALOGUE)
    hits = find(store, "What is the name of the puppy?", 3)
    assert "c" in [hit.turn.id for hit in hits]
    assert all(abs(sum(hit.parts.values()) - hit.score) < 1e-9 for hit in hits)


def test_filters_are_hard(store: Store) -> None:
    keep(store, DIALOGUE)
    assert {hit.turn.id for hit in find(store, "puppy", speaker="Mira")} == {"a", "c"}
    assert {hit.turn.id for hit in find(store, "puppy", session="s2")} == {"d"}
    assert {hit.turn.id for hit in find(store, "puppy", exclude=frozenset("ab"))} == {"c", "d"}
    assert {hit.turn.id for hit in find(store, "puppy", before=NOON + timedelta(minutes=1), speaker="Mira")} == {"a"}
    assert find(store, "puppy", speaker="Nobody") == []


def test_a_time_filter_reads_when_it_happened_not_when_it_was_said(store: Store) -> None:
    keep(store, [said("I moved to Porto in May 2023.", id="m"), said("I like tea.", id="t", at=1)])
    assert [hit.turn.id for hit in find(store, "Porto", before=datetime(2023, 7, 1))] == ["m"]
    assert [hit.turn.id for hit in find(store, "Porto", after=datetime(2024, 1, 1))] == ["t"]


def test_dialogue_order_is_time_then_arrival(store: Store) -> None:
    keep(store, [DIALOGUE[2], DIALOGUE[0]])
    keep(store, [DIALOGUE[1]])
    assert [turn.id for turn in store.contexts(["b"], 1, 1)[0]] == ["a", "b", "c"]
    assert [turn.id for turn in store.contexts(["a"], 5, 1)[0]] == ["a", "b"]
    assert store.order(["c", "a", "b"]) == ("a", "b", "c")
    asked = store.contexts(["c", "a", "c"], 1, 1)
    assert asked == tuple(store.contexts([name], 1, 1)[0] for name in ("c", "a", "c"))


def test_facts_lie_in_their_turns(store: Store) -> None:
    keep(store, DIALOGUE)
    facts = store.facts(["a", "d"])
    assert {fact.turn_id for fact in facts} == {"a", "d"}
    for fact in facts:
        assert store.read([fact.turn_id])[0].text[slice(*fact.span)].strip()


@pytest.mark.parametrize("only", [ANY_FACT, FactFilter("Mira"), FactFilter(during=MAY), FactFilter(current=True)])
def test_facts_are_found_as_by_scoring_each_of_them(stores: list[Store], only: FactFilter) -> None:
    lived = said("I live in Lisbon.", id="e", at=-9), said("I live in Leeds now.", id="f", at=9)
    for one in stores:
        keep(one, [*DIALOGUE, *lived])
    for text in ("Where does Mira live?", "the puppy", "zzz"):
        first, *others = [one.recall_facts(wanted(one, text, k=4), only) for one in stores]
        for other in others:
            assert [(hit.fact, hit.turn, hit.replaces) for hit in other] == [
                (hit.fact, hit.turn, hit.replaces) for hit in first
            ]
            assert [hit.score for hit in other] == pytest.approx([hit.score for hit in first], abs=1e-5)


def test_a_fact_is_found_with_what_it_replaced(store: Store) -> None:
    keep(store, [said("I live in Lisbon.", id="old"), said("I live in Leeds now.", id="new", at=60)])
    (now,) = store.recall_facts(wanted(store, "Where does Mira live?"), FactFilter("Mira", current=True))
    assert (now.turn.id, [old.turn_id for old in now.replaces]) == ("new", ["old"])


def test_facts_of_an_interval_happened_in_it_or_were_said_in_it(store: Store) -> None:
    keep(store, DIALOGUE)
    assert {hit.turn.id for hit in store.recall_facts(wanted(store, "move"), FactFilter(during=MAY))} == {"d"}


TWICE = said("We adopted a puppy. We baked bread.", id="e", at=9), said("We baked bread.", id="f", at=10)


def test_the_nearest_facts_are_those_of_comparing_each(stores: list[Store]) -> None:
    for one in stores:
        keep(one, [*DIALOGUE, *TWICE])
    for text, speaker in (("adopting a dog", None), ("a move to Portugal", "Tomas")):
        first, *others = [one.nearest_facts(wanted(one, text, k=3, speaker=speaker)) for one in stores]
        assert first
        assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)
        for other in others:
            assert [(hit.fact, hit.turn) for hit in other] == [(hit.fact, hit.turn) for hit in first]
            assert [hit.score for hit in other] == pytest.approx([hit.score for hit in first], abs=1e-2)


def test_what_was_forgotten_is_no_nearest_fact_and_what_came_since_may_be(store: Store) -> None:
    keep(store, [*DIALOGUE, *TWICE])
    assert store.nearest_facts(wanted(store, "baking bread", k=1))[0].turn.id in {"e", "f"}
    store.forget(["e", "f"])
    keep(store, [said("I baked rye bread.", id="g", at=11)])
    found = store.nearest_facts(wanted(store, "baking bread", k=9))
    assert found[0].turn.id == "g"
    assert not {"e", "f"}.intersection(hit.turn.id for hit in found)


def test_facts_an_edge_away_are_all_of_their_turns_and_all_alike(stores: list[Store]) -> None:
    for one in stores:
        keep(one, [*DIALOGUE, *TWICE])
        (adopted,) = one.facts(["a"])
        linked = one.linked_facts([adopted.id])
        assert [(hit.turn.id, hit.fact.object) for hit in linked] == [("e", "a puppy")]
        further = one.linked_facts([linked[0].fact.id])
        assert [(hit.turn.id, hit.fact.predicate) for hit in further] == [("a", "adopted"), ("e", "baked")]
        assert not one.linked_facts([linked[0].fact.id], Scope(speaker="Tomas"))


def test_facts_about_an_entity_match_whole_words(store: Store) -> None:
    keep(store, [said("Jonathan likes tea.", id="j"), said("Jon bought a kite.", id="k", at=1)])
    assert [fact.turn_id for fact in store.about("Jon", 9).facts] == ["k"]
    assert store.about("Nobody", 9).total == 0


def test_a_word_matches_its_own_keyword_or_else_the_nearest_ones_that_turns_have(store: Store) -> None:
    keep(store, DIALOGUE)
    own, name = store.keywords(["puppies", "nobody", "Tomas", "puppy"])
    assert (own.word, own.term, own.turns, own.closeness) == ("puppies", "puppi", 2, 1.0)
    assert (name.term, name.turns) == ("toma", 2)
    (near,) = [found for found in store.keywords(["kitten"]) if found.term == "puppi"]
    assert (near.word, near.turns) == ("kitten", 2)
    assert 0.4 < near.closeness < 1
    store.forget(["a"])
    assert [found.turns for found in store.keywords(["puppy"])] == [1]


def test_turns_that_have_all_of_some_keywords_are_counted_and_the_newest_named(store: Store) -> None:
    long = "Porto is old. " + "The harbour is grey and wide. " * 40 + "We ate there."
    keep(store, [*DIALOGUE, said(long, id="e", at=9)])
    assert (store.holding(["puppi"], 9).total, store.holding(["puppi"], 9).turn_ids) == (2, ("a", "b"))
    assert store.holding(["puppi", "toma"], 9).turn_ids == ("b",)
    assert store.holding(["porto", "eat"], 9).turn_ids == ("e",), "in two passages of one turn"
    assert (store.holding([], 2).total, store.holding([], 2).turn_ids) == (5, ("d", "e"))
    assert store.holding(["puppi"], 0).turn_ids == ()
    assert store.holding(["puppi"], 9, Scope(speaker="Tomas")).turn_ids == ("b",)


def test_the_newest_turns_with_each_keyword_are_read_unless_it_is_common(store: Store) -> None:
    keep(store, DIALOGUE)
    assert [turn.id for turn in store.mentions(["puppi", "porto"], 1, 9)] == ["b", "d"]
    assert [turn.id for turn in store.mentions(["puppi"], 9, 2)] == ["a", "b"]
    assert store.mentions(["puppi", "zebra"], 9, 1) == ()
    assert [turn.id for turn in store.mentions(["puppi"], 9, 1, Scope(speaker="Tomas"))] == ["b"]
    assert [found.turns for found in store.keywords(["puppy", "Porto"], Scope(session="s2"))] == [1]


def test_a_search_among_the_turns_of_keywords_is_ranked_and_returns_no_others(store: Store) -> None:
    keep(store, DIALOGUE)
    assert [hit.turn.id for hit in find(store, "What is it called?", holding=("puppi",))] == ["b", "a"]
    assert [hit.turn.id for hit in find(store, "Porto", holding=("puppi",), exclude=("a",))] == ["b"]
    assert find(store, "Porto", holding=("zebra",)) == []


def test_a_search_for_any_of_some_keywords_returns_what_has_one(store: Store) -> None:
    keep(store, DIALOGUE)
    query = wanted(store, "What is it called?", 9)
    assert {hit.turn.id for hit in store.recall(replace(query, any_of=("puppi", "zebra")))} == {"a", "b"}
    assert store.recall(replace(query, any_of=("zebra",))) == ()


def test_a_later_fact_replaces_an_earlier_one_in_any_order_of_arrival(store: Store) -> None:
    old, new = said("I live in Lisbon.", id="old"), said("I moved to Porto.", id="new", at=60, session="s2")
    keep(store, [new])
    keep(store, [old])
    (before,) = [fact for fact in store.facts(["old"]) if "Lisbon" in fact.object]
    assert before.replaced_by in {fact.id for fact in store.facts(["new"])}
    assert "edge:updates" in [hit.path for hit in store.expand(["old"], 9)]
    store.forget(["new"])
    assert [fact.replaced_by for fact in store.facts(["old"])] == [None]


def test_a_report_replaces_no_own_word_in_any_order_of_arrival(store: Store) -> None:
    own = said("I live in Lisbon.", id="own", speaker="Mira")
    report = said("Mira lives in Porto.", id="report", speaker="Tomas", at=60)
    moved = said("I moved to Faro.", id="moved", speaker="Mira", at=90)
    keep(store, [report])
    keep(store, [own])
    assert [fact.replaced_by for fact in store.facts(["own", "report"])] == [None, None]
    keep(store, [moved])
    (winner,) = store.facts(["moved"])
    assert [fact.replaced_by for fact in store.facts(["own", "report"])] == [winner.id, winner.id]


def test_expansion_is_scored_capped_and_never_returns_its_seeds(store: Store) -> None:
    keep(store, DIALOGUE)
    hits = store.expand(["b"], 9)
    assert {"a", "c"} <= {hit.turn.id for hit in hits}
    assert "b" not in {hit.turn.id for hit in hits}
    assert len(store.expand(["b"], 1)) == 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_forgetting_removes_from_every_path(store: Store) -> None:
    keep(store, DIALOGUE)
    report = store.forget(["a"])
    assert report.turns == 1
    assert "a" not in [hit.turn.id for hit in find(store, "puppy")]
    assert "a" not in [hit.turn.id for hit in store.expand(["b"], 9)]
    assert all(fact.turn_id != "a" for fact in store.about("puppy", 9).facts)
    assert keep(store, DIALOGUE[:1]).statuses[0].outcome == "readded"


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ({"speaker": "Mira"}, "bd"),
        ({"speaker": "mira"}, "abcd"),
        ({"session": "s2"}, "abc"),
        ({"before": NOON + timedelta(minutes=1)}, "bc"),
        ({"speaker": "Mira", "before": NOON + timedelta(minutes=1)}, "bcd"),
        ({}, ""),
    ],
)
def test_forgetting_by_a_condition_erases_those_turns_and_no_others(
    store: Store, condition: dict[str, object], left: str
) -> None:
    keep(store, DIALOGUE)
    report = store.forget_where(**condition)  # type: ignore[arg-type]
    assert report.turns == 4 - len(left)
    assert {hit.turn.id for hit in find(store, "puppy")} == set(left)
    assert set(store.roster().speakers) == {turn.speaker for turn in DIALOGUE if turn.id in left}


def test_a_turn_without_a_vector_is_found_by_its_words_and_queued(store: Store) -> None:
    drive(Ingestion(store, READ, deferred=True).store_batch([TurnValidator()(DIALOGUE[0])]))
    assert [hit.turn.id for hit in find(store, "puppy")] == ["a"]
    assert [job.turn.id for job in store.due("vector", 9)] == ["a"]


def test_postponed_jobs_wait_and_failed_jobs_are_not_offered(store: Store) -> None:
    drive(Ingestion(store, READ, deferred=True).store_batch(DIALOGUE[:2]))
    store.postpone("vector", {"a": ("refused", 3600.0), "b": ("refused", None)})
    assert store.due("vector", 9) == ()


def test_held_jobs_are_returned_by_their_reason_until_they_are_due(store: Store) -> None:
    drive(Ingestion(store, READ, deferred=True).store_batch(DIALOGUE[:3]))
    store.hold("vector", ["b", "nobody"], "in batch 7", 3600.0)
    store.hold("vector", ["c"], "in batch 8", -1.0)
    assert [job.turn.id for job in store.due("vector", 9)] == ["a", "c"]
    assert [(job.turn.id, job.attempts) for job in store.due("vector", 9, "in batch 7")] == [("b", 0)]
    store.complete_jobs("vector", [Entry(store.read(["b"])[0], vectors=EMBEDDER.embed(["x"]))])
    assert store.due("vector", 9, "in batch 7") == ()


def test_all_stores_find_the_same(stores: list[Store]) -> None:
    turns = load_example("friends")[:60]
    for store in stores:
        keep(store, turns)
    for question in ("Where does she live now?", "What did they do last summer?", "Who plays an instrument?"):
        first, *others = ([(h.turn.id, h.score, h.facts, h.neighbours) for h in find(s, question, 15)] for s in stores)
        assert all(other == first for other in others)
        seeds = [turn_id for turn_id, *_ in first[:5]]
        one, *others = ([(h.turn.id, h.path, round(h.score, 4)) for h in s.expand(seeds, 12)] for s in stores)
        assert all(other == one for other in others)


def test_a_setting_is_kept_replaced_and_deleted(store: Store) -> None:
    assert store.setting("calibration") is None
    store.keep_setting("calibration", "one")
    store.keep_setting("calibration too", "other")
    store.keep_setting("calibration", "two")
    assert (store.setting("calibration"), store.setting("calibration too")) == ("two", "other")
    store.keep_setting("calibration", None)
    assert (store.setting("calibration"), store.setting("calibration too")) == (None, "other")


def test_settings_outlive_a_turn_but_not_the_last_one(store: Store) -> None:
    keep(store, DIALOGUE)
    store.keep_setting("calibration", "one")
    store.forget(["a"])
    assert store.setting("calibration") == "one"
    store.forget(["b", "c", "d"])
    assert store.setting("calibration") is None


@pytest.mark.parametrize("word", ["harbour", "kite", "salt"])
def test_a_bare_query_ranks_by_bm25_over_single_turns(store: Store, word: str) -> None:
    chance = random.Random(5)
    common = ["harbour", "kite", "salt", "bread", "violin", "ferry", "lantern"]
    texts = [" ".join(chance.choice(common) for _ in range(chance.randrange(4, 30))) + "." for _ in range(40)]
    keep(store, [Turn(f"t{n}", "s", "Mira", text, NOON + timedelta(minutes=n)) for n, text in enumerate(texts)])
    reference = BM25Okapi([terms(f"Mira {text}") for text in texts], k1=BM25.k1, b=BM25.b)
    reference.idf = dict.fromkeys(reference.idf, 1.0)  # one word: what it weighs changes no order
    scores = reference.get_scores(terms(word))
    expected = sorted(range(40), key=lambda n: (-round(scores[n], 9), n))[:10]
    found = store.recall(Query(word, 10, vector=EMBEDDER.embed([word])[0], names=("Mira",), bare=True))
    assert [hit.turn.id for hit in found] == [f"t{n}" for n in expected]
