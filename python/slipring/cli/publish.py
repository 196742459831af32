"""`slipring pub`: parse, publish. Decides nothing about messages."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from slipring.cli.lines import lines
from slipring.client import connect
from slipring.client.connecting import URL


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
    url: Annotated[str, typer.Option(help="The broker's address.")] = URL,
    file: Annotated[
        Path | None,
        typer.Option(help="Publish this file as one message.", exists=True, dir_okay=False),
    ] = None,
    retain: Annotated[
        bool, typer.Option("--retain", help="Ask the broker to keep it for later subscribers.")
    ] = False,
) -> None:
    """Publish messages to a topic.

    For example:

    slipring pub gripen/39-7/engine/rpm 12034.5

    tail -f log.txt | slipring pub site/log

    slipring pub maps/tile --file tile.png --retain
    """
    if file is not None and message is not None:
        raise typer.BadParameter("give MESSAGE or --file, not both")
    payload = file.read_bytes() if file is not None else _payload(message)
    asyncio.run(_publish(url, topic, payload, retain))


def _payload(message: str | None) -> bytes | None:
    """The argument's own bytes; none where lines are to be read."""
    if message is None or message == "-":
        return None
    return message.encode("utf-8", "surrogateescape")


async def _publish(url: str, topic: str, payload: bytes | None, retain: bool) -> None:
    async with connect(url) as bus:
        if payload is not None:
            await bus.publish(topic, payload, retain=retain)
            return
        async for line in lines(sys.stdin.fileno()):
            await bus.publish(topic, line, retain=retain)
