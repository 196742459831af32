"""`slipring request`: asks a service, and prints its answer."""

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from slipring.cli import display, interrupt
from slipring.cli.access import Access
from slipring.cli.client_options import ClientOptions
from slipring.cli.option_sets import option_sets
from slipring.cli.payload_options import PayloadOptions, as_bytes
from slipring.client.connecting import Connecting
from slipring.client.request_terms import RETRY_MAX, RequestOptions
from slipring.errors import RequestEnded, RequestNotDelivered
from slipring.model import Answer

EXIT_CODES = {
    "failed": 3,
    "timed-out": 4,
    "not-delivered": 5,
    "cancelled": 6,
    "dropped": 7,
    "refused": 8,
    "lost": 9,
}
"""The exit code for each end; that of an answer is 0, and 1 is for all other errors."""


class _Priority(StrEnum):
    """The priority of a request."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class _Balance(StrEnum):
    """How the broker chooses a service."""

    FIRST_FREE = "first-free"
    ROUND_ROBIN = "round-robin"
    RANDOM = "random"
    FASTEST = "fastest"
    LEAST_LOADED = "least-loaded"


@dataclass(frozen=True)
class TermOptions:
    """The terms of a request, as given on the command line."""

    timeout: Annotated[
        float, typer.Option("--timeout", "-W", min=1e-6, help="Seconds until it times out.")
    ] = 30.0
    wait: Annotated[bool, typer.Option("--wait", help="Wait for a service, if there is none.")] = (
        False
    )
    priority: Annotated[
        _Priority | None, typer.Option(help="Which requests go first where several wait.")
    ] = None
    retry: Annotated[
        int, typer.Option(min=0, max=RETRY_MAX, help="How many others may try if a service dies.")
    ] = 0
    balance: Annotated[_Balance | None, typer.Option(help="How the broker chooses a service.")] = (
        None
    )
    content_type: Annotated[str | None, typer.Option(help="The media type of the value.")] = None
    qos: Annotated[
        int, typer.Option("--qos", "-q", min=0, max=2, help="The QoS of the request.")
    ] = 1

    def options(self) -> RequestOptions:
        """The same as arguments of `Bus.request`."""
        return {
            "timeout_s": self.timeout,
            "wait": self.wait,
            "priority": None if self.priority is None else self.priority.value,
            "retry": self.retry,
            "balance": None if self.balance is None else self.balance.value,
            "qos": self.qos,
            "content_type": self.content_type,
        }


@option_sets(
    {
        "source": PayloadOptions,
        "terms": TermOptions,
        "client": ClientOptions,
        "access": Access,
    },
    without=("by_line",),
)
def request(  # noqa: PLR0913 (typer reads the options from the signature)
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="Such as solver/linear.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Argument(metavar="VALUE", help="The payload; - is all of standard input."),
    ] = None,
    *,
    parts: Annotated[
        bool, typer.Option("--parts", help="Print each part as it comes, then the answer.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the bytes alone, without a line end.")
    ] = False,
    source: PayloadOptions,
    terms: TermOptions,
    client: ClientOptions,
    access: Access,
) -> None:
    """Ask a service, and print its answer. Ctrl-C cancels the request.

    The exit code is 0 for an answer. Otherwise a line on standard error says how the request ended,
    and so does the exit code: 3 the service failed; 4 timed out; 5 not delivered, because there is
    no service; 6 cancelled; 7 dropped, because the broker's memory is used up; 8 refused by the
    broker; 9 lost with the connection; 1 another error; 2 wrong arguments; 130 Ctrl-C.

    For example:

        slipring request solver/linear '{"a": 1}'

        slipring request --wait --timeout 600 --retry 2 solver/linear - < problem.json

        slipring request -h localhost -t solver/linear -m '{"a": 1}' -W 5

        slipring request --parts solver/linear --file problem.json

        slipring request --raw maps/tile 8/133/86 > tile.png
    """
    chosen = source.topic(topic)
    source.check_single(value)
    payload = (source.payload() or b"") if value is None else _payload(value)
    connecting = client.reach(access).connect(client_id=client.client_id)
    asking = _ask(connecting, chosen, payload, terms.options(), parts=parts, raw=raw)
    try:
        interrupt.run(asking)
    except RequestEnded as end:
        hint = "; --wait waits for one" if isinstance(end, RequestNotDelivered) else ""
        print(f"slipring: {display.printable(str(end))}{hint}", file=sys.stderr)
        raise typer.Exit(EXIT_CODES.get(end.status, 1)) from None


def _payload(value: str) -> bytes:
    return sys.stdin.buffer.read() if value == "-" else as_bytes(value)


async def _ask(
    connecting: Connecting,
    topic: str,
    payload: bytes,
    options: RequestOptions,
    *,
    parts: bool,
    raw: bool,
) -> None:
    async with connecting as bus:
        if not parts:
            _print(await bus.request(topic, payload, **options), raw=raw)
            return
        async for answer in bus.ask_parts(topic, payload, **options):
            if answer.is_part or answer.payload:
                _print(answer, raw=raw)


def _print(answer: Answer, *, raw: bool) -> None:
    shown = answer.payload
    if sys.stdout.isatty():
        shown = b"\n".join(
            display.printable(line.decode("utf-8", "backslashreplace")).encode()
            for line in shown.split(b"\n")
        )
    if not raw and not shown.endswith(b"\n"):
        shown += b"\n"
    display.write_all(sys.stdout.fileno(), shown)
