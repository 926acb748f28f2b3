"""A call on an event loop whose caller was cancelled ends in silence: its error may name ids and speakers."""

import asyncio
import gc
import logging
from threading import Event

import evimem


def test_the_error_of_a_cancelled_call_is_not_logged(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    begun, go_on = Event(), Event()

    async def cancel_a_call_that_fails() -> None:
        async with evimem.open_async(tmp_path / "m.evimem") as memory:
            await memory.add("Vera", "I live in Rijeka.", time="2024-05-02", id="secret")
            known = memory._core.store.find

            def slowly(ids):
                begun.set()
                go_on.wait(10)
                return known(ids)

            call = asyncio.ensure_future(
                memory._in_worker(lambda: (slowly(["secret"]), memory._core.store.read(["no"])))
            )
            await asyncio.to_thread(begun.wait, 10)
            call.cancel()
            await asyncio.wait([call])
            go_on.set()

    asyncio.run(cancel_a_call_that_fails())
    gc.collect()
    assert caplog.text == ""
