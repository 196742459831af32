"""Calls that run on one event loop, in a thread of its own, while their caller waits."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")
Given = ParamSpec("Given")


@cache
def loop_of(_process: int) -> asyncio.AbstractEventLoop:
    """The loop of this process; a forked one starts its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="slipring-sync", daemon=True).start()
    return loop


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a call on the loop. Ctrl-C, or any other exception here, cancels the call."""
    future = asyncio.run_coroutine_threadsafe(work, loop_of(os.getpid()))
    try:
        return future.result()
    finally:
        future.cancel()


def waiting(
    call: Callable[Concatenate[Any, Given], Coroutine[Any, Any, Result]],
) -> Callable[[object], Callable[Concatenate[Any, Given], Result]]:
    """Decorates a method that stands for one of the client: it waits for that one's result."""

    @wraps(call)
    def called_here(self: Any, /, *args: Given.args, **options: Given.kwargs) -> Result:
        return run(call(self._inner, *args, **options))

    return lambda _: called_here


def like(call: Callable[Given, Any]) -> Callable[[Callable[..., Result]], Callable[Given, Result]]:
    """Gives a function the parameters of one of the client."""

    def with_parameters(own: Callable[..., Result]) -> Callable[Given, Result]:
        own.__dict__["__wrapped__"] = call
        return own

    return with_parameters


def like_method(
    call: Callable[Concatenate[Any, Given], Any],
) -> Callable[[Callable[..., Result]], Callable[Concatenate[Any, Given], Result]]:
    """Gives a method the parameters of one of the client."""
    return like(call)


async def called(call: Callable[[], Result]) -> Result:
    """The result of a call that has to be made on the loop."""
    return call()


async def next_of(source: AsyncIterator[Item]) -> Item | None:
    """StopIteration cannot pass through a future."""
    return await anext(source, None)


def all_of(source: AsyncIterator[Item]) -> Iterator[Item]:
    while (found := run(next_of(source))) is not None:
        yield found
