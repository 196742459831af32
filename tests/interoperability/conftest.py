"""One broker for a file of client tests, and a name of its own for each test."""

from collections.abc import Iterator

import pytest

from tests.running_broker import RunningBroker, broker_in

CONFIG = """
[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true
"""


@pytest.fixture(scope="module")
def standing_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that all tests of a file share; `web` is its WebSocket listener."""
    with broker_in(tmp_path_factory.mktemp("clients"), config=CONFIG) as running:
        yield running


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A topic and client identifier that no other test has."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
