"""What a frame says about itself, and when it reached this client."""

from typing import NamedTuple

from slipring.model import Hops

NS_PER_S = 1e9


class Marks(NamedTuple):
    """When the frame with the newest sample was published and received, by the broker's clock."""

    published_ns: int
    received_ns: int
    skew_ns: int
    """The broker's clock minus the publisher's."""


class Header(NamedTuple):
    """The beginning of a frame."""

    table: int
    sequence: int
    sent_ns: int
    """By the sender's clock."""
    marks: Marks | None = None


class Arrival(NamedTuple):
    """When a frame came, by this machine's clock."""

    arrived_ns: int
    taken_ns: int
    """When its reader had it."""
    offset_ns: int = 0
    """The broker's clock minus this machine's, as far as it is known."""
    uncertainty_ns: int | None = None
    """How wrong that can be; None as long as nothing was measured."""


def hops_of(newest_ns: int, header: Header, arrival: Arrival) -> Hops | None:
    """Where the time went; None where the frame does not say, or this machine's clock may be any.

    By a clock that was not measured, times on the way are too long or negative by any amount.
    """
    marks = header.marks
    if marks is None or arrival.uncertainty_ns is None:
        return None
    arrived_ns = arrival.arrived_ns + arrival.offset_ns
    uplink_ns = marks.received_ns - marks.published_ns
    downlink_ns = arrived_ns - header.sent_ns
    return Hops(
        publisher_s=(marks.published_ns - newest_ns - marks.skew_ns) / NS_PER_S,
        network_s=(uplink_ns + downlink_ns) / NS_PER_S,
        broker_s=(header.sent_ns - marks.received_ns) / NS_PER_S,
        subscriber_s=(arrival.taken_ns - arrival.arrived_ns) / NS_PER_S,
    )
