"""Chunks of streams, to iterate over. Fetches only what its reader asks for."""

from slipring.client.connection import ClientConnection
from slipring.client.subscription import ContentReader, Subscription
from slipring.model import Chunk, Message


class Chunks(ContentReader[Chunk]):
    """What `Bus.stream` returns: enter it, then iterate over its chunks.

    Chunks that the broker keeps come first, then every later one. After a lost connection it
    continues where it was, if the broker still keeps the chunks; `Chunk.lost` counts missed ones.
    """

    def __init__(
        self, connection: ClientConnection, filters: tuple[str, ...], *, newest: bool
    ) -> None:
        if not filters:
            raise ValueError("no filters are given")
        begin = (("from", "newest"),) if newest else ()
        self.lost: int = 0
        """How many chunks were missed so far."""
        name = connection.new_name()
        named = tuple(name + one for one in filters)
        super().__init__(Subscription(connection, named, 0, (("deliver", "stream"), *begin)))
        self._expected: dict[str, tuple[str, int]] = {}
        """The run and the next sequence of each topic."""

    def _content(self, message: Message) -> Chunk | None:
        """None if it was read before: a new connection begins with all that the broker keeps."""
        said = dict(message.properties)
        sequence, run = int(said["seq"]), said["run"]
        known, expected = self._expected.get(message.topic, (run, sequence))
        if known == run and sequence < expected:
            return None
        lost = sequence - expected if known == run else 0
        self.lost += lost
        self._expected[message.topic] = (run, sequence + 1)
        media = message.content_type or ""
        return Chunk(message.topic, sequence, int(said["time"]), message.payload, media, lost)
