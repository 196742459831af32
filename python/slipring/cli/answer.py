"""`slipring answer`: runs a command for each request; its output is the answer."""

import math
import shutil
import sys
from typing import Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, with_access
from slipring.cli.answering_command import AnsweringCommand
from slipring.client.connecting import Connecting
from slipring.client.serving import CONCURRENCY_MAX


@with_access
def answer(
    topic_filter: Annotated[
        str, typer.Argument(metavar="FILTER", help="Which requests, such as 'solver/#'.")
    ],
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND ARG...", help="The command that answers a request."),
    ],
    *,
    concurrency: Annotated[
        int, typer.Option(min=1, max=CONCURRENCY_MAX, help="How many requests at once.")
    ] = 1,
    lines: Annotated[
        bool, typer.Option("--lines", help="Each line of the output is a part, sent as it comes.")
    ] = False,
    access: Access,
) -> None:
    """Answer requests by a command, until Ctrl-C.

    The command runs once for each request. It reads the request's payload from standard input, and
    its standard output is the answer. If its exit code is not 0, the request fails, and the reason
    is what the command wrote to standard error. The environment variable SLIPRING_TOPIC is the
    topic. When the request is cancelled or times out, SIGTERM goes to the command and all that it
    has started, and SIGKILL to what is left of them three seconds later. With --lines the final
    answer is empty.

    Run it several times with the same FILTER to share the work.

    For example:

        slipring answer text/upper -- tr a-z A-Z

        slipring answer --concurrency 4 'solver/#' -- python solve.py

        slipring answer --lines site/log -- tail -n 100 -f /var/log/syslog
    """
    if shutil.which(command[0]) is None:
        raise typer.BadParameter(f"there is no command {command[0]!r}", param_hint="COMMAND")
    runs = AnsweringCommand(command, by_line=lines)
    interrupt.run(_answer(access.connect(reconnect_s=math.inf), topic_filter, runs, concurrency))


async def _answer(
    connecting: Connecting, topic_filter: str, runs: AnsweringCommand, concurrency: int
) -> None:
    async with (
        connecting as bus,
        bus.serve(topic_filter, runs.answer, concurrency=concurrency) as service,
    ):
        told = f"answering requests to {topic_filter!r}, at most {concurrency} at once"
        print(f"slipring: {told}; Ctrl-C ends", file=sys.stderr, flush=True)
        await service.ended()
