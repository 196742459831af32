"""A broker that sends its log to a server, and what the server got when the broker has ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.logs.receivers import PATIENCE_S, Receiver, stream_server
from tests.running_broker import RunningBroker, broker_in


@contextmanager
def logged(
    folder: Path, config: str, happen: Callable[[RunningBroker], None]
) -> Iterator[Receiver]:
    """The log of a broker with this config, on which this happened."""
    with stream_server("gelf") as receiver:
        server = f'\n[[log.server]]\nkind = "gelf"\naddress = "{receiver.address}"\n'
        with broker_in(folder, config=config + server) as running:
            happen(running)
        assert receiver.ended.wait(PATIENCE_S)
        receiver.texts()
        yield receiver
