"""What pages do on the event loop and on its threads is bounded, however many there are."""

import asyncio
import itertools
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from slipring.console import history_desk, openapi, turns
from slipring.console.history_desk import Busy, HistoryDesk
from slipring.console.samples_feed import SamplesFeed, Watched
from slipring.console.samples_socket import SamplesPage
from slipring.console.turns import Turns
from slipring.history.buckets import Buckets
from slipring.history.question import KnownParameter
from slipring.history.recent import FINE_NS
from tests.running_broker import PATIENCE_S

NUMBER = KnownParameter("f64")
COST_S = 0.05


async def test_after_a_turn_comes_a_pause_as_long_as_its_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = itertools.count(step=COST_S)
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    loop, line, order, times = asyncio.get_running_loop(), Turns(), list[str](), list[float]()

    async def page(name: str) -> None:
        async with line.turn():
            order.append(name)
            times.append(loop.time())

    await asyncio.gather(*map(page, "abc"))
    assert order == ["a", "b", "c"]
    assert all(late - early >= COST_S * 0.9 for early, late in itertools.pairwise(times))


class History:
    """A past that is asked on threads; a test says when it goes on."""

    def __init__(self) -> None:
        self.may_go_on, self.begins = threading.Event(), threading.Event()
        self.changes: list[str] = []
        self.recent = SimpleNamespace(revision=3, changed=self._changed)
        self.table = SimpleNamespace(newest=lambda _: {})

    def lake_bounds(self) -> None: ...

    def definitions(self, names: Any) -> dict[str, KnownParameter]:
        return dict.fromkeys(names, NUMBER)

    def begin(self, names: Any, known: Any) -> None:
        self.begins.set()
        assert self.may_go_on.wait(PATIENCE_S)

    def follow(self, names: Any, known: Any) -> None: ...

    def _changed(self, name: str, *_: Any) -> Buckets:
        self.changes.append(name)
        return Buckets.of_samples(np.array([FINE_NS]), np.array([1.0]), FINE_NS)


@pytest.fixture
def history() -> History:
    return History()


def desk_of(history: History) -> HistoryDesk:
    return HistoryDesk(cast("Any", history))


async def test_names_are_looked_up_while_long_readings_last(history: History) -> None:
    desk = desk_of(history)
    wait: Callable[[], bool] = lambda: history.may_go_on.wait(PATIENCE_S)  # noqa: E731
    long = [asyncio.create_task(desk.run(number, wait)) for number in range(3)]
    async with asyncio.timeout(PATIENCE_S):
        assert await desk.known(["a"]) == {"a": NUMBER}
    history.may_go_on.set()
    await asyncio.gather(*long)


async def test_so_many_questions_wait_and_no_more(history: History) -> None:
    desk = desk_of(history)

    def blocked(names: Any) -> dict[str, KnownParameter]:
        history.begin(names, ())
        return {}

    history.definitions = blocked  # type: ignore[method-assign]
    waiting = [
        asyncio.create_task(desk.known([f"p{number}"]))
        for number in range(history_desk.WAITING_MAX)
    ]
    await asyncio.to_thread(history.begins.wait, PATIENCE_S)
    with pytest.raises(Busy):
        await desk.known(["one more"])
    history.may_go_on.set()
    await asyncio.gather(*waiting)


async def test_an_answer_is_forgotten_though_nobody_asks_again(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_desk, "SHARED_S", 0.01)
    desk = desk_of(history)
    forgotten, forget = asyncio.Event(), desk._forget_old

    def told() -> None:
        forget()
        if not desk._asked:
            forgotten.set()

    await desk.known(["a"])
    monkeypatch.setattr(desk, "_forget_old", told)
    await desk.known(["b"])
    forgotten.clear()
    async with asyncio.timeout(PATIENCE_S):
        await forgotten.wait()


async def test_a_page_that_leaves_while_it_begins_watches_nothing(history: History) -> None:
    feed = SamplesFeed(cast("Any", history))
    visitor = SimpleNamespace(plan=1, may_watch_each=lambda names: [True] * len(names))
    proof = SimpleNamespace(visitor=visitor)
    socket: Any = SimpleNamespace(scope={"proof": proof})
    page = SamplesPage(socket, cast("Any", None), cast("Any", None), feed)
    assert page.take('{"names": ["a", "b"]}') is None
    choosing = asyncio.create_task(page._choose())
    await asyncio.to_thread(history.begins.wait, PATIENCE_S)
    choosing.cancel()
    history.may_go_on.set()
    await asyncio.gather(choosing, return_exceptions=True)
    page.leave()
    assert not feed._watching


async def test_a_series_is_made_once_for_pages_that_watch_it_among_others(
    history: History,
) -> None:
    feed = SamplesFeed(cast("Any", history))
    feed._known = dict.fromkeys("abc", NUMBER)
    for names in itertools.permutations("abc"):
        await feed.message(Watched(names, FINE_NS), 2)
    assert sorted(history.changes) == ["a", "b", "c"]


async def test_the_next_turn_waits_until_pages_have_the_messages_of_the_last_one(
    history: History,
) -> None:
    feed = SamplesFeed(cast("Any", history))
    async with feed._turns.turn():
        asking = [
            asyncio.create_task(feed.message(Watched((), step_ns), 2))
            for step_ns in (FINE_NS, 2 * FINE_NS)
        ]
        feed.watch({"a": NUMBER})
        async with feed.turned:
            await feed.turned.wait()
        assert not feed._all_told.is_set()
    await asyncio.gather(*asking)
    assert feed._all_told.is_set()
    feed.leave(["a"])


async def test_the_description_of_the_api_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def document_text(routes: object) -> str:
        made.append(routes)
        return "{}"

    monkeypatch.setattr(openapi, "document_text", document_text)
    endpoint = cast("Any", openapi.openapi_route()).endpoint
    request = SimpleNamespace(query_params={}, app=SimpleNamespace(routes=[]))
    for _ in range(3):
        assert (await endpoint(request)).body == b"{}"
    assert len(made) == 1
