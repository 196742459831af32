"""What a frame says about itself, and when it reached this client."""

from typing import NamedTuple

from slipring.model import Hops

NS_PER_S = 1e9


class PublishTimes(NamedTuple):
    """When the frame with the newest sample was published and received, by the broker's clock."""

    published_ns: int
    received_ns: int
    skew_ns: int
    """The broker's clock minus the publisher's."""


class Header(NamedTuple):
    """The header of a frame."""

    table: int
    sequence: int
    sent_ns: int
    """By the sender's clock."""
    published: PublishTimes | None = None


class FrameArrival(NamedTuple):
    """When a frame arrived, by this computer's clock."""

    arrived_ns: int
    taken_ns: int
    """When its reader took it."""
    offset_ns: int = 0
    """The broker's clock minus this computer's, if it is known."""
    uncertainty_ns: int | None = None
    """How wrong the offset can be; None before anything was measured."""


def hops_of(newest_ns: int, header: Header, arrival: FrameArrival) -> Hops | None:
    """Where the time was spent; None if the frame does not say it, or no clock was measured.

    Without a measured clock, the time on the network could be wrong by any amount.
    """
    published = header.published
    if published is None or arrival.uncertainty_ns is None:
        return None
    arrived_ns = arrival.arrived_ns + arrival.offset_ns
    uplink_ns = published.received_ns - published.published_ns
    downlink_ns = arrived_ns - header.sent_ns
    return Hops(
        publisher_s=(published.published_ns - newest_ns - published.skew_ns) / NS_PER_S,
        network_s=(uplink_ns + downlink_ns) / NS_PER_S,
        broker_s=(header.sent_ns - published.received_ns) / NS_PER_S,
        subscriber_s=(arrival.taken_ns - arrival.arrived_ns) / NS_PER_S,
    )
