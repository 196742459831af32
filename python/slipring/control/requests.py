"""Requests in the configuration: which messages are requests, and how their services are chosen."""

from typing import Annotated, Literal

from pydantic import Field

from slipring.control.filters import Filter
from slipring.control.journal import RULES_MAX
from slipring.control.section import Section, between

Strategy = Literal["first-free", "round-robin", "random", "fastest", "least-loaded"]


class RequestSection(Section):
    """Topics whose messages with a Response Topic are requests: see docs/requests.md."""

    topics: tuple[Filter, ...] = Field(
        min_length=1, max_length=RULES_MAX, description="Topic filters.", examples=[("solve/#",)]
    )
    timeout_s: Annotated[float, between(0.001, 604_800)] = Field(
        30.0, description="Seconds until a request times out that does not say when."
    )


class BalanceSection(Section):
    """How one of several services, or a member of a shared subscription, is chosen."""

    topics: tuple[Filter, ...] = Field(
        min_length=1, max_length=RULES_MAX, description="Topic filters.", examples=[("solve/#",)]
    )
    strategy: Strategy = Field(
        description="first-free, round-robin, random, fastest or least-loaded.",
        examples=["fastest"],
    )
