"""Where a frame's newest sample spent its time, from the source to the reader."""

from typing import NamedTuple


class Hops(NamedTuple):
    """How many seconds the newest sample spent where, all by the broker's clock.

    They add up to the sample's age. The clocks of publisher and subscriber are known within an
    uncertainty (`Frame.uncertainty_s`, and that of the publisher): one hop may be too long by that
    much and another too short. A hop that is slightly negative is shorter than the uncertainty;
    read it as zero.
    """

    publisher_s: float
    """From the source time until the publisher sent the frame."""
    network_s: float
    """On the network, to the broker and from it."""
    broker_s: float
    """From receiving the sample at the broker until the broker sent this frame."""
    subscriber_s: float
    """From receiving the frame at this client until its reader took it."""
