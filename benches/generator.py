"""Builds and runs slipring-load, the load generator, and reads its output: a JSON object a line."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Self

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 300

Report = dict[str, Any]


class RunFailed(Exception):
    """The generator ended early; the message is its own."""


@dataclass(frozen=True)
class Held:
    """A run that goes on until its standard input is closed."""

    report: Report
    process: subprocess.Popen[str]

    def finish(self) -> Report:
        """End the run; returns its last line."""
        output, errors = self.process.communicate(timeout=TIMEOUT_S)
        if self.process.returncode:
            raise RunFailed(_said(errors))
        lines = output.splitlines()
        return _parsed(lines[-1]) if lines else {}


@dataclass(frozen=True)
class Generator:
    """The built program."""

    program: Path
    under: tuple[str, ...] = ()
    """A command to run it under, such as `chrt`, with options."""

    def in_real_time(self) -> Self:
        """The same at real-time priority, if the system allows it."""
        under = ("chrt", "--fifo", "20")
        tried = subprocess.run([*under, "true"], capture_output=True, check=False)
        return self if tried.returncode else replace(self, under=under)

    @classmethod
    def build(cls, profile: str = "release") -> Self:
        """Build it; `dev` is quicker to build, `release` is what measures."""
        command = ["cargo", "build", "--quiet", "--locked", "-p", "slipring-load"]
        subprocess.run([*command, "--profile", profile], cwd=ROOT, check=True)
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        folder = "debug" if profile == "dev" else profile
        return cls(target / folder / "slipring-load")

    def run(
        self, command: str, address: str, *options: str | int, timeout_s: float = TIMEOUT_S
    ) -> Report:
        """One run to its end; returns its report."""
        try:
            done = subprocess.run(
                self._command(command, address, *options),
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RunFailed(f"it did not end within {timeout_s:g} s") from None
        if done.returncode:
            raise RunFailed(_said(done.stderr))
        return _parsed(done.stdout)

    @contextmanager
    def hold(self, command: str, *options: str | int) -> Iterator[Held]:
        """A run in the background that has printed its first line."""
        with subprocess.Popen(
            self._command(command, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield Held(_first_line(process), process)
            _close(process.stdin)

    def _command(self, *arguments: str | int) -> list[str]:
        return [*self.under, str(self.program), *(str(argument) for argument in arguments)]


def _first_line(process: subprocess.Popen[str]) -> Report:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        _, errors = process.communicate(timeout=TIMEOUT_S)
        raise RunFailed(_said(errors))
    return _parsed(line)


def _close(pipe: IO[str] | None) -> None:
    if pipe and not pipe.closed:
        pipe.close()


def _parsed(line: str) -> Report:
    report: Report = json.loads(line)
    return report


def _said(errors: str) -> str:
    return errors.strip().removeprefix("slipring-load: ")
