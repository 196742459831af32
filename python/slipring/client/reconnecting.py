"""Work that is done again on each new connection: declaring, and listing what is followed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from slipring.client.changes import Changes
from slipring.client.connection import ClientConnection
from slipring.errors import NoAnswer, SlipringError
from slipring.model import ConnectionChange

Work = Callable[[], Awaitable[object]]

log: logging.Logger = logging.getLogger("slipring.client")


def redo(connection: ClientConnection, works: Callable[[], Iterable[Work]]) -> asyncio.Task[None]:
    """A task that does these works after every reconnection."""
    changes, url = connection.changes(), connection.native.url

    async def run(changes: Changes[ConnectionChange]) -> None:
        async for change in changes:
            if change.connected:
                await redo_all(works(), url)

    return asyncio.get_running_loop().create_task(run(changes))


async def redo_all(works: Iterable[Work], url: str) -> None:
    """Does them one after the other. A refusal is logged, and does not hold up the others."""
    for work in list(works):
        try:
            await _until_answered(work)
        except SlipringError as error:
            log.warning("cannot declare everything again at %s: %s", url, error)


async def _until_answered(work: Work) -> None:
    while True:
        try:
            await work()
        except NoAnswer as error:
            log.warning("%s; asking again", error)
        else:
            return
