"""The witness: publishers and subscribers with durable sessions through a broker's many lives.

It starts the broker, loads it, ends it in whatever way, starts it again, and in the end says what
was promised and what became of it. The judging is in verdict.py.
"""

import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Protocol

from slipring.journal.columns import record_batch
from slipring.native import JournalReader
from tests.faults.fleet import Fleet, Machine
from tests.faults.publisher import Publisher, told_by
from tests.faults.subscriber import Subscriber
from tests.faults.verdict import Course, Key, Report, judge
from tests.raw_mqtt import V5, V311

PATIENCE_S = 60
END_S = 60
READ_BYTES = 16 << 20


class Served(Protocol):
    """A broker that runs."""

    process: subprocess.Popen[Any]
    host: str
    port: int


class Guest(Machine, Protocol):
    """One who comes, and is done at some time."""

    @property
    def is_done(self) -> bool:
        """Whether all it asked was answered."""


def clients() -> tuple[list[Publisher], list[Subscriber]]:
    """Both versions, both qualities; connected, away, slow to acknowledge, and a shared group."""
    publishers = [
        Publisher("at-least-once", V5, 1),
        Publisher("exactly-once", V5, 2),
        Publisher("at-least-once-311", V311, 1, size=3_000),
        Publisher("exactly-once-311", V311, 2, size=300),
    ]
    subscribers = [
        Subscriber("recorder", V5, 2),
        Subscriber("display", V311, 1),
        Subscriber("slow", V5, 2, lag=7),
        Subscriber("slow-311", V311, 1, lag=5),
        Subscriber("traveller", V5, 1),
        Subscriber("traveller-311", V311, 2),
        Subscriber("worker-1", V5, 2, group="workers"),
        Subscriber("worker-2", V5, 2, group="workers", lag=3),
    ]
    return publishers, subscribers


TRAVELLERS = ("traveller", "traveller-311")


@dataclass(repr=False)
class Witness:
    """One run, from the first start to the verdict."""

    start: Callable[[], Served]
    seed: int
    publishers: list[Publisher] = field(default_factory=list)
    subscribers: list[Subscriber] = field(default_factory=list)
    patience_s: float = PATIENCE_S
    kills: int = 0
    recovery_s: float = 0
    peak_bytes: int = 0
    said: str = ""
    """What the broker told in its last life on standard error."""

    def __post_init__(self) -> None:
        if not self.publishers and not self.subscribers:
            self.publishers, self.subscribers = clients()
        self.choice = Random(self.seed)
        self.fleet = Fleet([*self.subscribers, *self.publishers])
        self.broker: Served | None = None

    @property
    def acknowledged(self) -> int:
        """Acknowledgements so far."""
        return sum(len(one.acknowledged) for one in self.publishers)

    def begin(self) -> None:
        """Start the broker, if it does not run, and bring everyone who is not away."""
        if self.broker is None:
            began = time.monotonic()
            self.broker = self.start()
            self.recovery_s = max(self.recovery_s, time.monotonic() - began)
        self.fleet.connect((self.broker.host, self.broker.port))
        self._look()

    def join(self) -> bool:
        """Until everyone who is not away is let in and subscribed."""
        return self.wait_for(lambda: all(one.is_done for one in self.subscribers))

    def load(self, acknowledgements: int) -> bool:
        """Publish until there are so many more; whether it came so far."""
        goal = self.acknowledged + acknowledgements
        self.press(acknowledgements)
        return self.wait_for(lambda: self.acknowledged >= goal)

    def press(self, messages: int) -> None:
        """Give every publisher so many more to publish."""
        for one in self.publishers:
            one.goal += messages

    def publish_one(self, publisher: Publisher) -> bool:
        """One message of one publisher, to its last answer; whether it came so far."""
        publisher.goal = publisher.sent + 1
        return self.wait_for(lambda: publisher.is_done)

    def visit(self, guest: Guest) -> bool:
        """Somebody who comes once; whether all was answered."""
        self.fleet.machines.append(guest)
        self.begin()
        return self.wait_for(lambda: guest.is_done)

    def finish(self) -> bool:
        """Publish no more; until all that was sent is acknowledged."""
        for one in self.publishers:
            one.goal = min(one.goal, one.sent)
        return self.wait_for(lambda: all(one.is_done for one in self.publishers))

    def settle(self) -> bool:
        """Everyone comes back, finishes and catches up; whether all that is owed arrived."""
        for one in self.subscribers:
            one.is_away = False
        self.begin()
        for one in self.subscribers:
            if one.name in self.fleet.lines:
                self.fleet.lines[one.name].say(one.catch_up())
        return self.join() and self.finish() and self.wait_for(lambda: not self.report().lost)

    def send_some_away(self) -> None:
        """Travellers leave and come back as the seed wills."""
        for one in self.subscribers:
            if one.name in TRAVELLERS and one.is_subscribed:
                one.is_away = self.choice.random() < 2 / 3

    def end(self, how: signal.Signals = signal.SIGKILL) -> int:
        """End the broker's life, or see its end; its exit code."""
        self.kills += 1
        if self.broker is None:
            return -signal.SIGKILL
        process, self.broker = self.broker.process, None
        if process.poll() is None:
            process.send_signal(how)
        self.said = process.communicate(timeout=END_S)[1] or ""
        self.fleet.hang_up()
        return process.returncode

    def report(self, journal: Mapping[Key, int] | None = None) -> Report:
        """The verdict so far."""
        course = Course(self.seed, self.kills, self.recovery_s, self.peak_bytes)
        return judge(self.publishers, self.subscribers, course, journal)

    def wait_for(self, until: Callable[[], bool]) -> bool:
        """Let everyone talk until something holds; whether it did."""

        def watched() -> bool:
            self._look()
            return until()

        return self.fleet.run(watched, self.patience_s)

    def _look(self) -> None:
        """Note the peak of its memory; a process that has died has none."""
        if self.broker is None:
            return
        try:
            status = Path(f"/proc/{self.broker.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return
        if peak := re.search(r"VmHWM:\s*(\d+) kB", status):
            self.peak_bytes = max(self.peak_bytes, int(peak[1]) * 1024)


def in_journal(folder: Path) -> Counter[Key]:
    """How often each of the publishers' messages is in a journal."""
    reader = JournalReader(folder)
    found: Counter[Key] = Counter()
    at, end = reader.first_offset, reader.end_offset()
    while at < end:
        columns = reader.read(at, end, READ_BYTES)
        at = columns.end
        batch = record_batch(columns, ("topic", "payload"))
        for topic, content in zip(*(column.to_pylist() for column in batch), strict=True):
            if topic.startswith("faults/"):
                found[told_by(content)] += 1
    return found
