"""`slipring sub`: parses options, subscribes, and prints."""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from slipring.cli import display
from slipring.cli.access import Access
from slipring.cli.client_options import ClientOptions
from slipring.cli.needs import NeedOptions
from slipring.cli.option_sets import option_sets
from slipring.cli.reading_options import TIMED_OUT, LineFormat, ReadingOptions
from slipring.client.connecting import Connecting
from slipring.model import Message, Sample

SILENCE_S = 3.0
"""After so long without a message, a line on the terminal says so."""


@dataclass(frozen=True)
class _WantedMessages:
    """Which messages to print, and how many."""

    filters: list[str]
    qos: int
    count: int | None
    properties: dict[str, str]


@option_sets(
    {"reading": ReadingOptions, "client": ClientOptions, "needs": NeedOptions, "access": Access}
)
def subscribe(
    filters: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILTER", help="Topic filters, such as 'gripen/#' or '+/+/engine/rpm'."
        ),
    ] = None,
    *,
    reading: ReadingOptions,
    client: ClientOptions,
    needs: NeedOptions,
    access: Access,
) -> None:
    """Print the messages that match one of the filters, one on each line. Ctrl-C ends.

    With --session-expiry the broker keeps collecting for that long; the next run with the same
    --client-id prints what came meanwhile. Above QoS 0 a message is acknowledged when it is
    printed. A lost connection is restored.

    The short options are those of mosquitto_sub. Unlike there, the topic is printed without -v too;
    --format payload leaves it out.

    With --rate, --deadband, --change or --deliver only parameters are printed, newest values first.

    For example:

        slipring sub 'gripen/#'

        slipring sub -h localhost -p 1883 -t 'gripen/#' -v

        slipring sub --format json --count 10 '+/+/engine/rpm' 'site/log'

        slipring sub --format payload site/log > log.txt

        slipring sub --qos 1 --client-id recorder-7 --session-expiry 3600 'gripen/#' >> log.txt

        slipring sub --rate 1 --deadband 2% 'gripen/+/engine/#'

        SLIPRING_USER=ground slipring sub --url unix:/run/slipring.sock --password-file secret '#'
    """
    chosen = reading.filters(filters)
    if reading.session_expiry and not client.client_id:
        raise typer.BadParameter("a session that is kept needs a name: give --client-id")
    connecting = client.reach(access).connect(
        client_id=client.client_id,
        session_expiry_s=reading.session_expiry,
        report_arrivals_s=needs.checked_report_arrivals(),
    )
    wanted = _WantedMessages(chosen, reading.qos, reading.count, needs.properties())
    if needs.is_frame:
        work = _select(connecting, wanted, needs, _sample_line(reading.line_format))
    else:
        line = _line(reading.line_format, is_chosen=bool(wanted.properties))
        work = _subscribe(connecting, wanted, line)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        asyncio.run(_ended_in_time(work, reading.timeout))


async def _ended_in_time(work: Coroutine[Any, Any, None], seconds: float | None) -> None:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await work
    except TimeoutError:
        if not limit.expired():
            raise
        print(f"slipring: timed out after {seconds:g} s", file=sys.stderr)
        raise typer.Exit(TIMED_OUT) from None


def _line(line_format: LineFormat, *, is_chosen: bool) -> Callable[[Message], bytes]:
    if line_format is LineFormat.JSON:
        return display.as_json
    if line_format is LineFormat.TEXT:
        return display.as_sample_text if is_chosen else display.as_text
    return partial(display.as_payload, for_terminal=sys.stdout.isatty())


def _sample_line(line_format: LineFormat) -> Callable[[str, Sample], bytes]:
    if line_format is LineFormat.JSON:
        return display.sample_as_json
    if line_format is LineFormat.TEXT:
        return display.sample_as_text
    return lambda _, sample: display.value_text(sample).encode() + b"\n"


async def _select(
    connecting: Connecting,
    wanted: _WantedMessages,
    needs: NeedOptions,
    line: Callable[[str, Sample], bytes],
) -> None:
    """Print every sample of the frames, up to the count."""
    left = wanted.count
    async with connecting as bus, bus.select(*wanted.filters, **needs.options()) as frames:
        waiting = _tell_of_silence(wanted.filters)
        async for frame in frames:
            waiting.cancel()
            lines = [line(name, sample) for name, sample in frame.each()][:left]
            _print(b"".join(lines))
            if left is not None:
                left -= len(lines)
                if left == 0:
                    return


async def _subscribe(
    connecting: Connecting, wanted: _WantedMessages, line: Callable[[Message], bytes]
) -> None:
    async with (
        connecting as bus,
        bus.subscribe(*wanted.filters, qos=wanted.qos, properties=wanted.properties) as messages,
    ):
        waiting = _tell_of_silence(wanted.filters)
        if wanted.count is None:
            async for batch in messages.batches():
                waiting.cancel()
                _print(b"".join(map(line, batch)))
            return
        # One at a time: messages taken beyond the last one would be lost.
        for _ in range(wanted.count):
            message = await anext(messages)
            waiting.cancel()
            _print(line(message))


def _tell_of_silence(filters: list[str]) -> asyncio.TimerHandle:
    """Say on a terminal, after SILENCE_S, that nothing has matched: a filter may be mistyped."""
    text = f"slipring: nothing has come yet for {' '.join(map(repr, filters))}; waiting for it"
    if not set("".join(filters)) & set("+#"):
        text += " (`name/#` is all below a name)"

    def tell() -> None:
        if sys.stderr.isatty():
            print(text, file=sys.stderr)

    return asyncio.get_running_loop().call_later(SILENCE_S, tell)


def _print(lines: bytes) -> None:
    """Write to standard output; BrokenPipeError if its reader is gone, as `| head` is."""
    display.write_all(sys.stdout.fileno(), lines)
