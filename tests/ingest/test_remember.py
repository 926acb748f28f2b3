"""Lists of messages beside what is stored: whatever a caller gives each time, what was said is stored, and once."""

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

import evimem
from evimem import Memory
from evimem.flow import Pause
from evimem.ingest import remember as module
from tests.ingest import changed_histories
from tests.ingest.histories import OWN, PATTERNS, SELDOM, Fast, Silent, run
from tests.sizes import sizes

Message = dict[str, Any]


def user(text: str, **own: Any) -> Message:
    return {"role": "user", "content": text, **own}


def assistant(text: str, **own: Any) -> Message:
    return {"role": "assistant", "content": text, **own}


def at(day: int) -> str:
    return f"2024-03-{day:02}T18:20"


def outcomes(memory: Memory, messages: list[Message], day: int, session: str = "s", **options: Any) -> list[str]:
    report = memory.remember(messages, session=session, time=at(day), **options)
    return [status.outcome for status in report.statuses]


RUN = [user("Went running today, 5k"), assistant("Well done!")]
PIN = [user("My PIN is 4471."), assistant("I will keep that safe."), user("Please forget my PIN.")]
HISTORY = [
    user("I adopted a beagle last week."), assistant("Lovely! What is it called?"), user("Juno."), assistant("Noted."),
]  # fmt: skip


def test_in_random_chats_nothing_is_lost_and_nothing_doubled(tmp_path):
    table = run(4 * len(PATTERNS) * len(OWN), 3, tmp_path)
    assert set(table) == {(pattern, own) for pattern in PATTERNS for own in OWN}
    assert sum(row["said"] for row in table.values()) > 500
    assert {key: row for key, row in table.items() if row["lost"] or row["doubled"]} == {}


def test_with_times_or_ids_of_their_own_messages_are_stored_once_however_seldom_they_come(tmp_path):
    table = run(8 * len(SELDOM) * len(OWN), 4, tmp_path, SELDOM)
    own = {key: row for key, row in table.items() if key[1] != "nothing"}
    assert len(own) == len(SELDOM) * (len(OWN) - 1)
    assert [key for key, row in own.items() if row["lost"] or row["doubled"]] == []


@pytest.mark.parametrize("session", ["s", None])
def test_what_is_said_again_on_another_day_is_said_again(memory, session):
    for day in (1, 2, 3):
        assert memory.remember(RUN, session=session, time=at(day)).added == 2
        assert memory.remember(RUN, session=session, time=at(day)).existing == 2
    assert [turn.time.day for turn in memory.turns() if turn.role == "user"] == [1, 2, 3]


def test_a_caller_of_new_messages_only_reads_no_window(memory):
    for day, text in enumerate(("ok", "thanks", "Great!"), start=1):
        outcomes(memory, [user(text)], day)
    assert outcomes(memory, [user("Great!"), assistant("Bye!")], 9) == ["uncertain", "added"]
    report = memory.remember([user("Great!")], session="s", time=at(9))
    assert (report.added, report.uncertain) == (1, 0)


def test_a_changed_history_of_short_messages_does_not_bring_back_what_was_forgotten(memory):
    history = [user(text) for text in ("Hello.", "I like tea.", "Nice.", "ok", "Great!", "Bye.")]
    outcomes(memory, history, 1)
    memory.forget(turns=[turn.id for turn in memory.turns() if "tea" in turn.text])
    again = outcomes(memory, [user("Changed."), *history[1:], *RUN], 2)
    assert again == ["added", "forgotten", "exists", "exists", "exists", "exists", "added", "added"]


@pytest.mark.parametrize("changed", [0, 3])
def test_of_a_changed_history_the_old_stays_and_the_report_says_so(memory, changed):
    outcomes(memory, HISTORY, 1)
    history = [*HISTORY, *RUN]
    history[changed] = {**history[changed], "content": "Something else."}
    report = memory.remember(history, session="s", time=at(2))
    assert [number for number, status in enumerate(report.statuses) if status.outcome == "exists"] == [
        number for number in range(4) if number != changed
    ]
    assert "the history was changed" in str(report.statuses[changed].reason)
    assert memory.stats().turns == 7


def test_an_id_is_an_identity_in_its_session_and_other_content_of_it_is_stored_beside(memory):
    outcomes(memory, [user("a", id="1"), assistant("b", id="2")], 1)
    assert outcomes(memory, [user("a", id="1")], 1, "another") == ["added"]
    assert outcomes(memory, [assistant("b", id="2"), user("a", id="1"), user("a", id="3")], 2) == [
        "exists", "exists", "added",
    ]  # fmt: skip
    changed = memory.remember([user("A", id="1")], session="s", time=at(3))
    assert "other content" in str(changed.statuses[0].reason)
    assert outcomes(memory, [user("A", id="1")], 4) == ["exists"]


def test_two_messages_of_one_list_with_the_same_id_are_both_stored_and_known_later(memory):
    twins = [assistant("Let me look.", id="1"), assistant("It is 14 degrees.", id="1")]
    assert outcomes(memory, twins, 1) == ["added", "added"]
    assert outcomes(memory, [*twins, *RUN], 2) == ["exists", "exists", "added", "added"]


@pytest.mark.parametrize("text", ["half of an emoji: \ud83c", "a zero \x00 in it", "\ufeffmarked"])
def test_characters_that_no_file_of_text_holds_keep_no_history_from_being_known(memory, text):
    history = [user("Run it, please, on this file."), {"role": "tool", "content": text}, assistant(text)]
    outcomes(memory, history, 1)
    assert outcomes(memory, [*history, *RUN], 2) == ["exists"] * 3 + ["added"] * 2


def test_a_forgotten_system_prompt_does_not_come_back_with_its_history(memory):
    prompt = {"role": "system", "content": "The user's PIN is 4471."}
    first = memory.remember([prompt, *HISTORY], session="s", time=at(1)).statuses[0].id
    memory.forget(turns=[first])
    assert outcomes(memory, [prompt, *HISTORY, *RUN], 2) == ["forgotten"] + ["exists"] * 4 + ["added"] * 2


def test_what_an_earlier_version_stored_is_known(memory):
    messages = [{"role": "system", "content": "Be kind."}, *HISTORY]
    for number, message in enumerate(messages):
        turn_id, raw = f"{number:030x}", {"message": json.dumps(message)}
        memory.extend(
            [evimem.Turn(turn_id, "s", message["role"], message["content"], at(1), None, message["role"], raw)]
        )
    assert outcomes(memory, [*messages, *RUN], 2) == ["exists"] * 5 + ["added"] * 2


def test_what_replaced_a_message_stands_where_that_stood(memory):
    first = memory.remember(PIN, session="s", time=at(1)).statuses[0].id
    memory.update(first, "My PIN is secret.")
    memory.update(first, "My PIN is my own.")
    assert outcomes(memory, [*PIN, *RUN], 2) == ["exists"] * 3 + ["added"] * 2
    memory.forget(turns=[first])
    assert outcomes(memory, [*PIN, *RUN], 2) == ["forgotten"] + ["exists"] * 4


FORGETTING: dict[str, Callable[[Memory, str], object]] = {
    "the turn": lambda memory, turn_id: memory.forget(turns=[turn_id]),
    "what is before": lambda memory, turn_id: memory.forget(before=at(2)),
    "the session": lambda memory, turn_id: memory.forget(session="s"),
    "everything": lambda memory, turn_id: memory.forget(everything=True),
}


@pytest.mark.parametrize("how", FORGETTING)
def test_what_was_forgotten_does_not_come_back_and_what_goes_on_is_stored(memory, how):
    first = memory.remember(PIN, session="s", time=at(1)).statuses[0].id
    FORGETTING[how](memory, first)
    history = [*PIN, assistant("Forgotten."), *RUN]
    known = "exists" if how == "the turn" else "forgotten"
    report = memory.remember(history, session="s", time=at(2))
    assert [status.outcome for status in report.statuses] == ["forgotten", known, known, "added", "added", "added"]
    assert report.forgotten == (1 if how == "the turn" else 3)
    assert outcomes(memory, history[-5:], 2) == [known, known, "exists", "exists", "exists"]


def test_what_was_forgotten_is_stored_again_in_its_place_where_that_is_asked_for(memory):
    first = memory.remember(PIN, session="s", time=at(1)).statuses[0].id
    memory.forget(turns=[first])
    assert outcomes(memory, PIN, 1, again=True) == ["added", "exists", "exists"]
    assert outcomes(memory, [*PIN, *RUN], 2) == ["exists"] * 3 + ["added"] * 2


def test_a_new_chat_after_everything_was_forgotten_is_stored(memory):
    outcomes(memory, HISTORY, 1)
    memory.forget(everything=True)
    assert outcomes(memory, RUN, 2) == ["added", "added"]
    assert outcomes(memory, [*RUN, user("And today?"), assistant("Rest.")], 3) == ["exists"] * 2 + ["added"] * 2


LONG = [
    user(f"This is question {number}.") if number % 2 else assistant(f"Reply {number} to it.") for number in range(1, 9)
]
NEW_CHATS: dict[str, tuple[list[list[Message]], list[Message]]] = {
    "messages with ids": ([RUN], [{**one, "id": f"m{number}"} for number, one in enumerate(HISTORY)]),
    "several exchanges at once": ([RUN], LONG),
    "of a caller who gives what is new": ([RUN, RUN], LONG),
}


@pytest.mark.parametrize("case", NEW_CHATS)
def test_a_longer_chat_after_everything_was_forgotten_is_stored_where_it_cannot_be_the_old_one(memory, case):
    before, given = NEW_CHATS[case]
    for day, messages in enumerate(before, start=1):
        outcomes(memory, messages, day)
    memory.forget(everything=True)
    assert outcomes(memory, given, 9) == ["added"] * len(given)


def test_a_call_that_is_repeated_after_its_messages_were_forgotten_stores_nothing(memory):
    outcomes(memory, RUN, 1)
    memory.forget(everything=True)
    assert outcomes(memory, RUN, 1) == ["forgotten", "forgotten"]
    assert outcomes(memory, RUN, 2) == ["added", "added"]


def test_an_older_call_that_comes_late_does_not_bring_back_what_was_forgotten(memory):
    first = memory.remember(PIN[:2], session="s", time=at(1)).statuses[0].id
    outcomes(memory, RUN, 2)
    memory.forget(turns=[first])
    assert outcomes(memory, PIN[:2], 1) == ["forgotten", "exists"]
    assert outcomes(memory, PIN[:2], 3) == ["added", "added"], "said again"


@pytest.mark.parametrize("session", ["s", None])
def test_a_message_with_a_time_of_its_own_stays_forgotten(memory, session):
    said = [one | {"created_at": at(1)} for one in PIN[:2]]
    first = memory.remember(said, session=session, time=at(2)).statuses[0].id
    memory.remember(RUN, session=session, time=at(2))
    memory.forget(turns=[first])
    assert memory.remember(said[:1], session=session, time=at(3)).forgotten == 1
    assert memory.remember(said[:1], session="another", time=at(3)).added == 1
    assert memory.remember(said[:1], session=session, time=at(3), again=True).added == 1


def test_a_forgotten_id_stays_refused(memory):
    outcomes(memory, [user("My PIN is 4471.", id="1")], 1)
    memory.forget(turns=["s:1"])
    assert outcomes(memory, [user("My PIN is 4471.", id="1")], 2) == ["forgotten"]
    assert outcomes(memory, [user("My PIN is 4471.", id="1")], 2, again=True) == ["readded"]


def test_the_place_of_a_forgotten_turn_tells_nothing_of_it(memory):
    db = memory._core.store.db
    for day in range(1, 20):
        outcomes(memory, [user(f"My PIN is {day}.")], day)
        outcomes(memory, [assistant(f"It is day {day}.")], day)
        memory.forget(turns=[turn.id for turn in memory.turns() if "PIN" in turn.text])
    assert db.read_value("SELECT count(*) FROM place") == 19
    memory.forget(session="s")
    assert set(db.rows("SELECT typeof(session), typeof(seq), count, taken FROM place")) == {
        ("blob", "integer", 1, None)
    }
    assert db.read_value("SELECT count(*) FROM forgotten") == 2 * 38, "digests of random ids, and of when each was said"


def test_two_callers_who_repeat_one_call_store_it_once(tmp_path):
    path = tmp_path / "m.evimem"
    history = [user(f"Message {number} of many.") for number in range(600)]

    def call(_: int) -> evimem.AddReport:
        with evimem.open(path) as memory:
            return memory.remember(history, session="s", time=at(1))

    with ThreadPoolExecutor(4) as callers:
        reports = list(callers.map(call, range(4)))
    assert sum(report.added for report in reports) == 600
    with evimem.open(path) as memory:
        assert Counter(turn.text for turn in memory.turns()) == Counter(one["content"] for one in history)


@pytest.mark.parametrize("before", [[], [user("Hello."), *HISTORY]], ids=["nothing", "another chat"])
def test_a_call_that_was_cut_short_between_batches_is_finished_by_its_repetition(memory, before):
    said = [user(Random(number).choice(("ok", "Great!"))) for number in range(700)]
    memory.remember(before, session="s", time=at(1))
    flow: Any = memory._core.remember(said, "s", at(2), strict=False, again=False, replace=False)
    stored, answer = 0, None
    while stored < 2:
        effect = flow.send(answer)
        stored += isinstance(effect, Pause)  # between two batches
        answer = memory._perform(effect)
    flow.close()
    assert len(before) < memory.stats().turns < len(before) + len(said)
    memory.remember(said, session="s", time=at(2))
    assert [turn.text for turn in memory.turns()] == [one["content"] for one in (*before, *said)]


def test_a_pair_reads_as_much_of_a_long_session_as_of_a_short_one(memory, monkeypatch):
    read: list[int] = []
    real = module._message_of
    monkeypatch.setattr(module, "_message_of", lambda turn: read.append(1) or real(turn))
    for size in (20, 400):
        outcomes(memory, [user(f"Message {number} of {size}.") for number in range(size)], 1, f"{size}")
        read.append(0)
        outcomes(memory, RUN, 2, f"{size}")
    first, second = (len(part) for part in "".join(map(str, read)).split("0")[1:])
    assert first == second > 0


def test_an_older_list_that_comes_late_is_known(memory):
    outcomes(memory, [*HISTORY, *RUN], 2)
    assert outcomes(memory, HISTORY, 1) == ["exists"] * 4


def test_a_copy_of_a_message_that_has_lost_its_id_is_known(memory):
    outcomes(memory, [user("Hello there, I am Mira."), assistant("Hello Mira!", id="msg_1")], 1)
    copied = [user("Hello there, I am Mira."), assistant("Hello Mira!"), user("Bye."), assistant("Bye!", id="msg_2")]
    assert outcomes(memory, copied, 2) == ["exists", "exists", "added", "added"]


def unexplained(table: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    assert all(row["chats"] and row["said"] for row in table.values())
    return {style: row for style, row in table.items() if row["lost"] or row["doubled"]}


@pytest.mark.parametrize("count", sizes(300, nightly=2_400, reduced=60))
def test_in_changed_histories_nothing_is_lost_and_nothing_doubled_unless_the_report_doubts_it(tmp_path, count):
    table, reference = Counter[str](), changed_histories.in_memory()
    with evimem.open(tmp_path / "m.evimem", embedder=Fast(), extractor=Silent()) as memory:
        for number in range(count):
            one, other = (changed_histories.client(7, number) for _ in range(2))
            on_file = changed_histories.told(memory, one, f"s{number}")
            assert on_file == changed_histories.told(reference, other, f"s{number}")
            table += changed_histories.judge(one, *on_file)
    assert unexplained({"every style": table}) == {}


@pytest.mark.parametrize("seed", [9, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(10, 14))])
def test_so_it_is_in_a_hundred_thousand_beside_the_reference_of_a_store(seed):
    count = 25_000 if seed > 9 else sizes(600, reduced=120)[0]
    assert unexplained(changed_histories.run(range(count), seed, changed_histories.in_memory())) == {}


INN = [user("I ask the innkeeper what the dragon of the hill is called."), assistant("It is called Varnok the Pale.")]
OTHER_REPLY = assistant("She laughs: everybody here calls it Emberly.")


def discarded(memory: Memory) -> list[str]:
    return [turn.text for turn in memory.turns() if turn.metadata.get("discarded")]


def test_a_reply_that_was_swiped_away_is_ranked_last_and_quoted_by_nothing(memory):
    outcomes(memory, INN, 1)
    assert outcomes(memory, [INN[0], OTHER_REPLY], 2) == ["exists", "added"]
    assert discarded(memory) == [INN[1]["content"]]
    question = "What is the dragon of the hill called?"
    assert "Varnok" not in memory.block(question).text
    assert all("Varnok" not in citation.quote for citation in memory.ask(question).citations)
    assert memory.search("dragon called Varnok the Pale", 9)[-1].turn.text == INN[1]["content"]
    assert len(memory.search("Varnok", 9, role="assistant")) == 2


KETTLE = [user("How do I descale the kettle?"), assistant("Boil vinegar and water in it.")]
HOW_OFTEN = [user("And how often is that needed?"), assistant("Every two months with hard water.")]


def test_a_doubted_reply_takes_the_place_of_the_former_one_once_the_history_goes_on_from_it(memory):
    other = assistant("Citric acid, a spoon a litre.")
    assert [outcomes(memory, one, day)[-1] for day, one in ((1, KETTLE), (2, [KETTLE[0], other]))] == [
        "added",
        "uncertain",
    ]
    assert discarded(memory) == []
    assert outcomes(memory, [KETTLE[0], other, *HOW_OFTEN], 3) == ["exists", "exists", "added", "added"]
    assert discarded(memory) == [KETTLE[1]["content"]]


def test_an_edit_of_the_first_reply_that_cuts_off_the_rest_is_an_edit(memory):
    outcomes(memory, [*KETTLE, *HOW_OFTEN], 1)
    assert outcomes(memory, [KETTLE[0], assistant("Boil a little vinegar and water in it.")], 2) == ["exists", "added"]
    assert discarded(memory) == [KETTLE[1]["content"]]
    assert outcomes(memory, [KETTLE[0], assistant("No idea.")], 3) == ["uncertain", "uncertain"]


def test_the_same_message_with_a_third_reply_is_doubted(memory):
    replies = [assistant(text) for text in ("Boil vinegar.", "Citric acid does it.", "Buy a tablet for it.")]
    said = [outcomes(memory, [KETTLE[0], reply], day) for day, reply in enumerate(replies, 1)]
    assert said == [["added", "added"], ["exists", "uncertain"], ["uncertain", "uncertain"]]


def test_a_reply_that_is_swiped_back_counts_again(memory):
    outcomes(memory, INN, 1)
    outcomes(memory, [INN[0], OTHER_REPLY], 2)
    assert outcomes(memory, [*INN, *RUN], 3) == ["exists", "exists", "added", "added"]
    assert discarded(memory) == [OTHER_REPLY["content"]]


def test_a_mark_is_kept_by_rebuild_and_goes_with_what_was_forgotten(memory):
    outcomes(memory, INN, 1)
    outcomes(memory, [INN[0], OTHER_REPLY], 2)
    memory.rebuild()
    assert memory.search("dragon called Varnok the Pale", 9)[-1].turn.text == INN[1]["content"]
    memory.forget(turns=[turn.id for turn in memory.turns() if turn.metadata.get("discarded")])
    assert outcomes(memory, INN, 3) == ["exists", "forgotten"]


def test_with_replace_a_changed_message_takes_the_place_of_the_former_one(memory):
    outcomes(memory, INN, 1)
    report = memory.remember([INN[0], OTHER_REPLY], session="s", time=at(2), replace=True)
    assert ([status.outcome for status in report.statuses], report.replaced) == (["exists", "replaced"], 1)
    assert [turn.text for turn in memory.turns()] == [INN[0]["content"], OTHER_REPLY["content"]]
    assert outcomes(memory, [INN[0], OTHER_REPLY, *RUN], 3) == ["exists", "exists", "added", "added"]
    changed = memory.remember([user("a", id="1")], session="t", time=at(3))
    changed = memory.remember([user("A", id="1")], session="t", time=at(4), replace=True)
    assert (changed.replaced, [turn.text for turn in memory.turns(session="t")]) == (1, ["A"])


def test_a_short_exchange_with_another_reply_is_doubted_until_the_caller_is_known(memory):
    outcomes(memory, [user("hi"), assistant("Hello.")], 1)
    assert outcomes(memory, [user("hi"), assistant("Good morning!")], 2) == ["exists", "uncertain"]
    assert outcomes(memory, [user("hi"), assistant("Good morning!")], 2) == ["exists", "exists"]
    outcomes(memory, RUN, 3)
    assert [turn.text for turn in memory.turns(role="user")] == ["hi", "hi", RUN[0]["content"]], "said again"


@pytest.mark.parametrize("left", [2, 3])
def test_the_beginning_of_a_short_history_alone_is_in_doubt(memory, left):
    history = [user("hi, I'm Ana"), assistant("Hello Ana"), user("what's 2+2"), assistant("4")]
    assert outcomes(memory, history, 1) == ["added"] * 4
    assert outcomes(memory, history[:left], 2) == ["uncertain"] * left
    assert outcomes(memory, [*history[:left], user("and 3+3")], 3) == ["exists"] * left + ["added"]


def test_ids_that_are_minted_anew_make_no_copies(memory):
    outcomes(memory, [{**one, "id": f"a{number}"} for number, one in enumerate(HISTORY)], 1)
    minted = [{**one, "id": f"b{number}"} for number, one in enumerate([*HISTORY, *RUN])]
    assert outcomes(memory, minted, 2) == ["exists"] * 4 + ["added"] * 2


def test_a_system_prompt_with_a_clock_is_stored_once(memory):
    for day in (1, 2, 3):
        prompt = {"role": "system", "content": f"You help with herons. It is Tuesday, {day} March 2024, 1{day}:04."}
        assert outcomes(memory, [prompt, user(f"Heron {day}?")], day, f"s{day}")[0] == (
            "exists" if day > 1 else "added"
        )
    assert outcomes(memory, [{"role": "system", "content": "You help with owls."}], 4, "t") == ["added"]


def test_a_reply_is_never_stored_before_its_question_whatever_the_clocks_say(memory):
    said = [
        user("And the florist?", created_at="2024-05-02T10:05:40"),
        assistant("Closed.", created_at="2024-05-02T10:00"),
    ]
    for _ in range(2):
        memory.remember(said, session="s")
        assert [turn.text for turn in memory.turns()] == ["And the florist?", "Closed."]
    memory.forget(turns=[turn.id for turn in memory.turns() if turn.role == "assistant"])
    assert memory.remember(said, session="s").forgotten == 1


def test_an_edited_message_of_the_same_id_marks_the_former_one(memory):
    outcomes(memory, [user("We meet at the old mill at eight.", id="1")], 1)
    assert outcomes(memory, [user("We meet at the old mill at nine.", id="1")], 2) == ["added"]
    assert discarded(memory) == ["We meet at the old mill at eight."]


def test_a_reply_that_was_cut_off_is_the_stored_one_and_its_history_goes_on(memory):
    outcomes(memory, INN, 1)
    cut = [INN[0], assistant("It is called")]
    assert outcomes(memory, cut, 2) == ["exists", "exists"]
    assert outcomes(memory, [*cut, *RUN], 3) == ["exists", "exists", "added", "added"]


def test_a_long_message_that_comes_again_alone_is_doubted(memory):
    asked = [user("What is a lurcher, in one sentence for a child of five?")]
    assert [outcomes(memory, asked, day) for day in (1, 2)] == [["added"], ["uncertain"]]
    assert [outcomes(memory, [user("ok")], day) for day in (3, 4)] == [["added"], ["added"]]


def test_on_a_server_changed_histories_and_marks_are_those_of_a_file(postgres):
    with evimem.open(postgres, user="remember-changed") as memory:
        outcomes(memory, INN, 1)
        assert outcomes(memory, [INN[0], OTHER_REPLY], 2) == ["exists", "added"]
        assert discarded(memory) == [INN[1]["content"]]
        assert memory.search("dragon called Varnok the Pale", 9)[-1].turn.text == INN[1]["content"]
        report = memory.remember([INN[0], assistant("Nobody knows.")], session="s", time=at(3), replace=True)
        assert [status.outcome for status in report.statuses] == ["exists", "replaced"]


DOCUMENTS = "Answer by these documents.\n<doc>Open at nine, on Sundays at ten. Tickets cost 12 euros.</doc>\n\nAsked: "
OPENS = "When does the museum open on Sundays?"


@pytest.mark.parametrize("first", [DOCUMENTS + OPENS, OPENS], ids=["with its context", "plain"])
def test_a_question_that_comes_with_and_without_its_context_is_one_message(tmp_path, first):
    other = OPENS if first != OPENS else DOCUMENTS + OPENS
    lists = ([first, "At ten."], [other, "At ten.", "How much?", "12 euros."])
    with evimem.open(tmp_path / "m.evimem") as memory:
        for at, said in enumerate(lists):
            messages = [
                {"role": role, "content": text} for role, text in zip(("user", "assistant") * 2, said, strict=False)
            ]
            report = memory.remember(messages, session="s", time=f"2024-03-12T18:2{at}")
        assert [status.outcome for status in report.statuses] == ["added", "exists", "added", "added"]
        assert report.statuses[0].reason
        texts = [turn.text for turn in memory.turns()]
        assert (len(texts), texts.count("At ten.")) == (5, 1)
        assert [turn.text for turn in memory.turns() if turn.metadata.get("discarded")] == [first]


def test_an_exchange_that_comes_alone_with_its_context_is_doubted(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        for at, asked in enumerate(("Good morning, all of you", DOCUMENTS + OPENS, OPENS)):
            said = [{"role": "user", "content": asked}, {"role": "assistant", "content": "At ten."}]
            report = memory.remember(said, session="s", time=f"2024-03-12T18:2{at}")
        assert {status.outcome for status in report.statuses} == {"uncertain"}


def test_facts_of_a_discarded_turn_are_no_facts_about_anybody(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "I live in Porto.", time="2024-03-12T18:20", metadata={"discarded": True}, id="former")
        memory.add("Mira", "I live in Leeds.", time="2024-03-12T18:21")
        assert [fact.object for fact in memory.facts(about="Mira")] == ["Leeds"]
        assert memory.facts(["former"]), "those of a turn that is named are told"


LONG_REPLY = "Prune the roses in March, water them twice a week, and feed them once before summer begins."


def test_a_reply_that_was_cut_off_is_known_where_its_question_left_the_history(memory):
    asked = [user("How do I care for roses?"), assistant(LONG_REPLY), user("And the hedge?"), assistant("Trim it.")]
    outcomes(memory, asked, 1)
    cut = assistant(LONG_REPLY[:30])
    assert outcomes(memory, [user("A summary of the beginning."), cut, *asked[2:]], 2) == [
        "added", "exists", "exists", "exists",
    ]  # fmt: skip


def test_a_short_cut_reply_that_nothing_around_it_tells_is_doubtful(memory):
    asked = [user("How are the roses?"), assistant(LONG_REPLY), user("Good."), *HISTORY]
    outcomes(memory, asked, 1)
    assert outcomes(memory, [user("A summary of it all."), assistant(LONG_REPLY[:7]), *HISTORY], 2) == [
        "added", "uncertain", *["exists"] * len(HISTORY),
    ]  # fmt: skip


def test_an_empty_reply_gives_way_to_the_whole_one(memory):
    outcomes(memory, [user("Write a poem about rivers."), assistant("")], 1)
    outcomes(memory, [user("Write a poem about rivers."), assistant("Down to the sea.")], 2)
    assert [turn.text for turn in memory.turns()] == ["Write a poem about rivers.", "Down to the sea."]


def test_a_message_is_known_without_the_image_that_it_had(memory):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    words = "Which dog is this?"
    outcomes(memory, [{"role": "user", "content": [{"type": "text", "text": words}, image]}, assistant("A beagle.")], 1)
    assert outcomes(memory, [user(words), assistant("A beagle."), *RUN], 2) == ["exists"] * 2 + ["added"] * 2


def test_a_reply_before_one_that_is_known_by_its_id_is_a_cut_one_of_the_session(memory):
    asked = [user("How?", id="1"), assistant(LONG_REPLY, id="2"), user("And?", id="3"), assistant("Trim it.", id="4")]
    outcomes(memory, asked, 1)
    minted = [assistant(LONG_REPLY[:30], id="n2"), *asked[2:]]
    assert outcomes(memory, minted, 2) == ["exists"] * 3
