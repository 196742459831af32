"""The progress of long work on standard error: a bar on a terminal, else a line now and then."""

import sys
import time
from typing import TYPE_CHECKING, Self

from slipring.cli.display import size

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_S = 5.0
"""Between two lines, if there is no terminal."""


class ProgressDisplay:
    """Shows progress as often as a person can read it.

    `total` is what `done` counts up to; None if it is unknown. `unit` is what `count` counts.
    """

    def __init__(self, what: str, total: int | None, unit: str = "messages") -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self._began_s = self._line_s = time.monotonic()
        self._bar = _bar() if sys.stderr.isatty() else None
        if self._bar:
            self._task = self._bar.add_task(what, total=total, told="")

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def tell(self, count: int, done: int) -> None:
        """Show that `count` units are done, and `done` of the total."""
        now_s = time.monotonic()
        seconds = now_s - self._began_s
        if self._bar:
            told = self._counted(count, seconds)
            self._bar.update(self._task, completed=done, total=self.total, told=told)
        elif now_s >= self._line_s + LINE_S:
            self._line_s = now_s
            print(self.line(count, done, seconds), file=sys.stderr, flush=True)

    def tell_bytes(self, done: int, total: int) -> None:
        """Show that so many bytes of all bytes are done."""
        self.total = total
        self.tell(done, done)

    def _counted(self, count: int, seconds: float) -> str:
        """The count, and the rate per second."""
        rate = count / max(seconds, 1e-9)
        if self.unit == "bytes":
            return f"{size(count)}, {size(rate)}/s"
        return f"{count:,} {self.unit}, {rate:,.0f}/s"

    def line(self, count: int, done: int, seconds: float) -> str:
        """Count, rate, share and time left, in one line."""
        line = f"{self.what}: {self._counted(count, seconds)}"
        if not self.total or not done:
            return line
        share = min(1.0, done / self.total)
        return f"{line}, {share:.0%}, {seconds / share - seconds:,.0f} s left"

    def note(self, text: str) -> None:
        """Print a line without disturbing the bar."""
        if self._bar:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
    )
