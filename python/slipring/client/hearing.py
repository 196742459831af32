"""What a bus hears from the broker and from other nodes, beside messages."""

from slipring.client.connection import ClientConnection
from slipring.client.losses import Losses
from slipring.client.notices import Notices


class HearingFace:
    """The part of a bus that hears."""

    _connection: ClientConnection

    def notices(self) -> Notices:
        """Notices to this node: `async with bus.notices() as notices`."""
        return Notices(self._connection)

    def losses(self) -> Losses:
        """Stored messages of this client that were dropped: `async with bus.losses() as losses`.

        The broker tells them within a second, and at most once a second.
        """
        return Losses(self._connection)
