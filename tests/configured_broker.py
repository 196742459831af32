"""A real broker with a file that can be changed while it runs, and its log as it is written."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

import pytest

from tests.raw_mqtt import RawPeer
from tests.running_broker import RunningBroker

WAIT_S = 60


class ConfiguredBroker:
    """Started with a file."""

    def __init__(self, folder: Path, text: str) -> None:
        self.file = folder / "broker.toml"
        self.file.write_text(text)
        self.running = RunningBroker.start(folder / "data", "--config", str(self.file))
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.running.process.stderr is not None
        for line in self.running.process.stderr:
            self._lines.put(line)

    @property
    def console(self) -> str:
        return self.running.console

    def stop(self) -> int:
        """End it; its exit code."""
        with self.running.process as process:
            process.send_signal(signal.SIGTERM)
            self._reading.join(WAIT_S)
            return process.wait(WAIT_S)

    def line(self, words: str) -> str:
        """The next line of the log with these words."""
        while words not in (line := self._lines.get(timeout=WAIT_S)):
            pass
        return line

    def reload(self, text: str) -> None:
        """Change the file, and have it read again."""
        self.file.write_text(text)
        self.running.process.send_signal(signal.SIGHUP)

    def peer(self, client_id: str, **options: object) -> RawPeer:
        """A client that was let in."""
        made = RawPeer(self.running.host, self.running.port)
        assert made.connect(client_id, **options).reason == 0
        return made


Configured: TypeAlias = Callable[[str], ConfiguredBroker]


@pytest.fixture
def configured(tmp_path: Path) -> Iterator[Configured]:
    """Starts a broker with this text as its file."""
    with ExitStack() as stack:

        def started(text: str) -> ConfiguredBroker:
            made = ConfiguredBroker(tmp_path, text)
            stack.callback(made.stop)
            return made

        yield started
