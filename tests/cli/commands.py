"""`slipring ...` as a process of its own."""

import asyncio
import subprocess
import sys
from pathlib import Path

from slipring import connect
from tests.running_broker import RunningBroker

SLIPRING = str(Path(sys.executable).with_name("slipring"))
"""The installed command."""


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "slipring", *map(str, arguments)]


async def run(*arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command to its end beside the test: its exit code and what it wrote."""
    process = await asyncio.create_subprocess_exec(
        SLIPRING,
        *arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return process.returncode, out, err


def slipring(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, which is expected to be this exit code."""
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == code, (done.stdout[-2000:], done.stderr[-2000:])
    return done


def refused(*arguments: str | Path) -> str:
    """The one line that says why a command did not do it."""
    done = slipring(*arguments, code=1)
    lines = done.stderr.splitlines()
    assert done.stdout == ""
    assert len(lines) == 1, lines
    assert lines[0].startswith("slipring: ")
    return lines[0]


def started(*arguments: str | Path) -> "subprocess.Popen[str]":
    """A command that runs beside the test; on a busy machine it waits, not who looks after it."""
    yielding = ["nice", "-n", "5", *command(*arguments)]
    return subprocess.Popen(yielding, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def publish(broker: RunningBroker, topic: str) -> None:
    """Publish "1"; when this returns, the broker has it on disk."""

    async def once() -> None:
        async with connect(broker.url) as bus:
            await bus.publish(topic, "1", qos=1)

    asyncio.run(once())
