"""One broker for a file of client tests, and a name of its own for each test."""

from collections.abc import Iterator

import pytest

from tests.running_broker import RunningBroker

CONFIG = """
[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true
"""


@pytest.fixture(scope="module")
def standing_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that all tests of a file share; `web` is its WebSocket listener."""
    folder = tmp_path_factory.mktemp("clients")
    config = folder / "broker.toml"
    config.write_text(CONFIG)
    running = RunningBroker.start(folder / "data", "--config", str(config))
    yield running
    code, errors = running.stop()
    assert code == 0, errors


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A topic and client identifier that no other test has."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
