"""Breaks of the pool of memories: leases, isolation of users, paths."""

import asyncio
import sys
import time
import unicodedata
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any

from evimem import MemoryPool
from evimem.api import leases, pool
from evimem.api.leases import Leases, PooledStore, Slot
from evimem.api.open import Folder
from evimem.store.handle import StoreHandle
from tests.breaks.gates import ISOLATION, LENDING, LENT, MACHINE, PATHS, POOL, SIGNALS, SOAK
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(
    gate=f"{SOAK}::test_long_use_loses_nothing_and_grows_in_nothing_but_turns",
    says="descriptors are not given back|StoreReadOnly|Too many open files",
)
def evicted_memories_stay_open() -> None:
    evicted: list[Slot] = []
    put(MemoryPool, "_close", lambda self, slot: evicted.append(slot))


@breaks(gate=f"{SOAK}::test_nothing_of_a_forgotten_turn_stays_in_the_memory_of_the_process", says="assert")
def every_lease_is_kept() -> None:
    honest, kept = Leases.ask, []

    def ask(self: Leases, lease: Any) -> None:
        kept.append(lease)
        honest(self, lease)

    put(Leases, "ask", ask)


@breaks(gate=ISOLATION, says="let out")
@breaks(gate=MACHINE, says="taken otherwise|not those that were kept")
def the_pool_returns_any_open_memory() -> None:
    honest = MemoryPool._prepare

    def prepare(self: MemoryPool, lease: Any) -> Any:
        opened = honest(self, lease)
        slots = self._leases.slots
        if lease.exclusive or len(slots) < self._leases.capacity:
            return opened
        return next(iter(slots.values())).opened or opened

    put(MemoryPool, "_prepare", prepare)


@breaks(gate=ISOLATION, says="let out|belongs to another user")
@breaks(gate=MACHINE, says="taken otherwise|not those that were kept|belongs to another user")
def the_pool_opens_a_memory_under_an_evicted_id() -> None:
    evict, honest = MemoryPool._make_room, StoreHandle.identify

    def make_room(self: MemoryPool, slot: Slot) -> None:
        if slot.evicted is not None:
            key = slot.evicted.key
            put(StoreHandle, "identify", lambda handle, embedder, _, *rest: honest(handle, embedder, None, *rest))
            put(Folder, "_path", lambda self, wanted: self._root / key[:2] / f"{key}.evimem")
        evict(self, slot)

    put(MemoryPool, "_make_room", make_room)


@breaks(gate=ISOLATION, says="let out|fewer turns|Error|StoreClosed")
@breaks(gate=MACHINE, says="StoreCorrupt|every eligible turn|StoreClosed")
def all_memories_share_one_cache() -> None:
    honest = StoreHandle.corpus
    shared: list[Any] = []

    def corpus(self: StoreHandle) -> Any:
        if not shared:
            shared.append(honest(self))
        return shared[0]

    put(StoreHandle, "corpus", corpus)


@breaks(gate=ISOLATION, says="let out")
@breaks(gate=MACHINE, says="taken otherwise|not those that were kept")
def similar_user_ids_share_a_memory() -> None:
    honest = pool.key_of
    put(pool, "key_of", lambda user_id: honest(unicodedata.normalize("NFC", user_id).casefold()))


@breaks(gate=f"{POOL}::test_many_cancelled_callers_leave_a_pool_of_eight_alive", says="PoolFull|StoreBusy")
@breaks(
    gate=f"{POOL}::test_a_caller_cancelled_while_its_file_is_opened_gives_its_lease_back",
    says="PoolFull|StoreBusy|hangs",
)
def a_cancelled_caller_keeps_its_lease() -> None:
    honest = MemoryPool._end_after

    def end_after(self: MemoryPool, lease: Any, worker: Any) -> Any:
        return Future() if sys.exc_info()[0] is asyncio.CancelledError else honest(self, lease, worker)

    put(MemoryPool, "_end_after", end_after)


@breaks(gate=f"{POOL}::test_a_file_that_cannot_be_opened_costs_no_place", says="PoolFull|StoreBusy")
def a_file_that_cannot_be_opened_keeps_its_place() -> None:
    put(Leases, "_undo", lambda self, slot, *, keep: None)


@breaks(gate=f"{POOL}::test_a_free_slot_goes_to_the_longest_waiting_request", says="AssertionError")
@breaks(gate=f"{POOL}::test_a_full_pool_waits_and_then_says_what_to_do", says="in use for 0 s")
def a_full_pool_refuses_at_once() -> None:
    honest = MemoryPool.__init__

    def init(self: MemoryPool, *args: Any, **options: Any) -> None:
        honest(self, *args, **{**options, "wait_seconds": 0.0})

    put(MemoryPool, "__init__", init)


@breaks(gate=f"{POOL}::test_a_free_slot_goes_to_the_longest_waiting_request", says="assert")
def a_place_goes_to_the_latest_caller() -> None:
    honest = Leases.waiting
    put(Leases, "waiting", lambda self: honest(self)[::-1])


@breaks(gate=f"{POOL}::test_an_event_loop_goes_on_while_a_task_waits_for_a_place", says="assert|PoolFull|Timeout")
def waiting_for_a_place_blocks_the_event_loop() -> None:
    async def wait(self: MemoryPool, lease: Any, granted: Any) -> None:
        self._ask(lease)
        deadline = time.monotonic() + 2.0
        while lease.slot is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self._check_granted(lease)

    put(MemoryPool, "_wait_async", wait)


@breaks(gate=f"{POOL}::test_opening_one_file_holds_up_no_other_user", says="Timeout|assert")
def the_pool_is_locked_while_a_file_is_opened() -> None:
    honest = MemoryPool._open_file

    def opened(self: MemoryPool, key: str, secret: Any) -> Any:
        with self._guard():
            return honest(self, key, secret)

    put(MemoryPool, "_open_file", opened)


@breaks(gate=f"{POOL}::test_closing_one_file_holds_up_no_other_user", says="Timeout|assert")
def the_pool_is_locked_while_a_file_is_closed() -> None:
    honest = MemoryPool._close

    def close(self: MemoryPool, slot: Slot) -> None:
        with self._guard():
            honest(self, slot)

    put(MemoryPool, "_close", close)


@breaks(gate=f"{POOL}::test_closing_waits_for_the_call_of_a_cancelled_caller", says="assert")
def closing_does_not_wait_for_what_is_under_way() -> None:
    put(Leases, "idle", True)


@breaks(
    gate=f"{POOL}::test_a_child_of_a_fork_opens_files_of_its_own_whatever_the_parent_was_doing",
    says="before a fork|hangs",
)
@breaks(
    gate=f"{LENDING}::test_a_child_of_a_fork_is_refused_what_a_block_of_its_parent_had_lent",
    says="before a fork|hangs|ChildFailed|assert",
)
def a_child_of_a_fork_has_its_parents_pool() -> None:
    put(MemoryPool, "_guard", lambda self: self._lock)


@breaks(
    gate=f"{LENDING}::test_two_users_of_one_place_ask_a_model_at_the_same_time",
    says="BrokenBarrier|ModelTimeout|PoolFull",
)
def a_block_keeps_its_place_while_a_model_thinks() -> None:
    put(MemoryPool, "_lending", lambda self, lease: nullcontext)


@breaks(gate=f"{LENDING}::test_a_question_goes_on_with_what_was_added_while_its_file_was_closed", says="StoreClosed")
@breaks(gate=LENT, says="StoreClosed|at place|assert")
def a_call_does_not_wait_for_the_place_that_was_lent() -> None:
    put(PooledStore, "_call", lambda self, name, *args, **options: getattr(self.file, name)(*args, **options))


@breaks(gate=f"{LENDING}::test_a_file_is_closed_only_where_its_place_is_needed", says="assert")
def the_file_of_a_block_is_closed_where_an_unused_one_is_open() -> None:
    def first(self: Leases) -> Any:
        used = {id(lease.slot) for lease in self.out.values()}
        return next((slot for slot in self.slots.values() if id(slot) not in used and slot.owner is None), None)

    put(Leases, "_longest_unused", first)


@breaks(
    gate=f"{LENDING}::test_what_is_in_use_is_neither_erased_nor_closed_while_its_place_is_lent",
    says="DID NOT RAISE|did not match|was being opened, closed or erased",
)
def a_block_without_a_place_is_none() -> None:
    def has_block(self: Leases, key: str) -> bool:
        return any(lease.of_block and lease.slot is not None for lease in self.of(key))

    put(Leases, "has_block", has_block)


@breaks(gate=f"{LENDING}::test_a_block_that_comes_back_goes_before_those_that_came_after_it", says="assert")
def a_block_that_comes_back_waits_behind_all() -> None:
    put(leases, "_is_new", lambda lease: False)


@breaks(
    gate=f"{LENDING}::test_a_memory_that_outlives_its_block_takes_no_place",
    says="DID NOT RAISE|in use|being opened",
)
def a_call_after_the_block_takes_a_place() -> None:
    put(Leases, "has_block", lambda self, key: True)


@breaks(
    gate=f"{LENDING}::test_the_embedder_of_a_block_stays_when_its_file_is_opened_again", says="EmbedderMismatch|Error"
)
def a_file_is_opened_again_with_the_pools_embedder() -> None:
    put(Leases, "find_open", lambda self, key: None)


@breaks(gate=SIGNALS, says="at place|assert")
def a_signal_takes_a_lease_along() -> None:
    honest, tried = MemoryPool._end, []

    def end(self: MemoryPool, lease: Any) -> None:
        if not any(one is lease for one in tried):  # once only, as a plain `finally` would
            tried.append(lease)
            honest(self, lease)

    put(MemoryPool, "_end", end)


@breaks(
    gate=f"{PATHS}::test_no_user_id_leads_out_of_the_folder_or_to_another_users_memory", says="Error|outside|assert"
)
def a_path_is_built_from_the_id() -> None:
    put(pool, "key_of", lambda user_id: user_id)


@breaks(gate=f"{PATHS}::test_an_invalid_user_id_is_refused", says="DID NOT RAISE|is not the memory of anybody")
def invalid_user_ids_are_accepted() -> None:
    honest = pool.key_of
    put(pool, "key_of", lambda user_id: honest(str(user_id) or "somebody"))
