"""A `slipring` command that the demo runs, in its own session: Ctrl-C reaches only the demo."""

import asyncio
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from slipring.errors import DemoError

STOP_S = 60
LOG_LINES_SHOWN = 5


@dataclass(frozen=True, eq=False)
class ChildProcess:
    """`slipring ARGUMENTS`; its output goes to a log file."""

    name: str
    process: asyncio.subprocess.Process
    log: Path

    @classmethod
    async def start(cls, name: str, log: Path, *arguments: str, stdout: int | None = None) -> Self:
        """Start the command; its standard output goes to the log too, unless `stdout` is given."""
        with log.open("wb") as stream:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "slipring",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stream if stdout is None else stdout,
                stderr=stream,
                start_new_session=True,
            )
        return cls(name, process, log)

    async def first_line(self) -> str:
        """Wait for the first line on its standard output."""
        if self.process.stdout is None:
            raise AssertionError("started without a pipe")
        line = await self.process.stdout.readline()
        if not line:
            await self.failed()
        return line.decode()

    async def failed(self) -> None:
        """Wait until it ends, which it should not, and raise DemoError with the end of its log."""
        code = await self.process.wait()
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        raise DemoError(
            f"the {self.name} ended with code {code}; {self.log} says:\n" + "\n".join(lines)
        )

    async def stop(self) -> None:
        """Ask it to end, and wait; kill it if it does not."""
        if self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.process.wait(), STOP_S)
        except TimeoutError:
            await self._kill()
            raise DemoError(f"the {self.name} did not end in {STOP_S} s; see {self.log}") from None
        except asyncio.CancelledError:
            await self._kill()
            raise

    async def _kill(self) -> None:
        self.process.kill()
        await self.process.wait()
