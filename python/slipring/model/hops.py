"""Where a frame spent its time, from the source to its reader."""

from typing import NamedTuple


class Hops(NamedTuple):
    """Seconds of the newest sample, by where they passed. All clocks are taken to the broker's.

    They add up to the sample's age. Clocks are known within the uncertainty of their measuring
    (`Frame.uncertainty_s`, and that of the publisher); by so much one of them may be too long and
    another too short, below zero too.
    """

    publisher_s: float
    """From the source time until the publisher sent the frame."""
    network_s: float
    """On the way to the broker, and from it."""
    broker_s: float
    """From the broker's receiving the sample until its sending this frame."""
    subscriber_s: float
    """From this client's receiving the frame until its reader had it."""
