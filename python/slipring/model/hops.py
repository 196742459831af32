"""Where a frame spent its time, from the source to its reader."""

from typing import NamedTuple


class Hops(NamedTuple):
    """Seconds of the newest sample, by where they passed. All clocks are taken to the broker's.

    They add up to the sample's age. A clock that is not known well makes one of them too long and
    another as much too short.
    """

    publisher_s: float
    """From the source time until the publisher sent the frame."""
    network_s: float
    """On the way to the broker, and from it."""
    broker_s: float
    """From the broker's receiving the sample until its sending this frame."""
    subscriber_s: float
    """From this client's receiving the frame until its reader had it."""
