"""`slipring pub`: parse, publish. Decides nothing about messages."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from slipring.cli.access import Access, reaching
from slipring.cli.lines import lines
from slipring.client.connecting import Connecting


@reaching
def publish(
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="Where to, such as gripen/39-7/engine/rpm.")
    ],
    message: Annotated[
        str | None,
        typer.Argument(
            metavar="MESSAGE",
            help="The payload. Left out or -: each line of standard input is one.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Publish this file as one message.", exists=True, dir_okay=False),
    ] = None,
    retain: Annotated[
        bool, typer.Option("--retain", help="Ask the broker to keep it for later subscribers.")
    ] = False,
    *,
    access: Access,
) -> None:
    """Publish messages to a topic.

    For example:

    slipring pub gripen/39-7/engine/rpm 12034.5

    tail -f log.txt | slipring pub site/log

    slipring pub maps/tile --file tile.png --retain

    slipring pub site/log hello --url mqtts://broker.example --user gripen --ca ca.pem
    """
    if file is not None and message is not None:
        raise typer.BadParameter("give MESSAGE or --file, not both")
    payload = file.read_bytes() if file is not None else _payload(message)
    asyncio.run(_publish(access.connect(), topic, payload, retain))


def _payload(message: str | None) -> bytes | None:
    """The argument's own bytes; none where lines are to be read."""
    if message is None or message == "-":
        return None
    return message.encode("utf-8", "surrogateescape")


async def _publish(connecting: Connecting, topic: str, payload: bytes | None, retain: bool) -> None:
    async with connecting as bus:
        if payload is not None:
            await bus.publish(topic, payload, retain=retain)
            return
        async for line in lines(sys.stdin.fileno()):
            await bus.publish(topic, line, retain=retain)
