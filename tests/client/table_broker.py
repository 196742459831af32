"""A broker with a table, that can be ended and started again at the same address."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.running_broker import RunningBroker, kept_address


class TableBroker:
    """One broker after another, with one folder and one address."""

    def __init__(self, folder: Path, address: str, config: str) -> None:
        self._folder = folder
        self._config = folder / "broker.toml"
        self._config.write_text(config)
        self._address = address
        self._data = 0
        self._running = self._start()

    def _start(self) -> RunningBroker:
        data = self._folder / f"data-{self._data}"
        arguments = ("--console", "off", "--mqtt", self._address, "--config", str(self._config))
        return RunningBroker.start(data, *arguments)

    @property
    def url(self) -> str:
        return self._running.url

    def restart(self, *, empty: bool = False, kill: bool = False) -> None:
        """End it, or kill it, and start it again; with nothing it knew, if it is to be empty."""
        self._data += empty
        if kill:
            self.kill()
        else:
            self.stop()
        self.start_again()

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self._running.stop(signal.SIGKILL)

    def start_again(self) -> None:
        """After it has ended, at the same address."""
        self._running = self._start()

    def stop(self) -> None:
        code, errors = self._running.stop()
        assert code == 0, errors


@contextmanager
def table_broker(folder: Path, config: str = "") -> Iterator[TableBroker]:
    with kept_address() as address:
        made = TableBroker(folder, address, config)
        yield made
        made.stop()


@pytest.fixture(scope="session")
def table_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that all tests share: each uses a prefix of its own."""
    with table_broker(tmp_path_factory.mktemp("table")) as made:
        yield made.url


@pytest.fixture
def broker_of_its_own(tmp_path: Path) -> Iterator[TableBroker]:
    """A broker for one test."""
    with table_broker(tmp_path) as made:
        yield made
