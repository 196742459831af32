"""Brokers for the client's tests: our own, and Mosquitto, because a client meets others too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.table_broker import broker_of_its_own, table_url
from tests.mosquitto import start_mosquitto
from tests.running_broker import broker_in

__all__ = ["broker_of_its_own", "table_url"]


@pytest.fixture(scope="session", params=["slipring", "mosquitto"])
def broker_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a running broker."""
    folder = tmp_path_factory.mktemp("broker")
    if request.param == "mosquitto":
        yield from run_mosquitto(folder)
        return
    config = "[limits]\npacket_bytes = 16777216\n"
    with broker_in(folder, "--console", "off", config=config) as running:
        yield running.url


@pytest.fixture(scope="session")
def other_broker_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that knows nothing of frames, and carries them as they are."""
    yield from run_mosquitto(tmp_path_factory.mktemp("other"))


def run_mosquitto(folder: Path) -> Iterator[str]:
    process, port = start_mosquitto(folder, "set_tcp_nodelay true\n")
    with process:
        yield f"mqtt://127.0.0.1:{port}"
        process.terminate()
