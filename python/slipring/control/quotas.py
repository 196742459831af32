"""Quotas by user in the configuration: how much each user, or each address, may have or send."""

from typing import Annotated

from pydantic import Field, model_validator

from slipring.control.section import Section, between
from slipring.errors import PlanError
from slipring.native import NativeRule

QUOTAS_MAX = 10_000
WHO_MAX = 1_024
Count = Annotated[int, between(0, 1 << 40)] | None
Rate = Annotated[int, between(1, 1 << 40)] | None
QuotaTuple = tuple[list[str], dict[str, int]]
"""A table for the engine: who, and the number of each key."""


class QuotaSection(Section):
    """How much each of these users may have; clients without a name share it by address.

    For each key the first table that is about a client and has the key counts (docs/limits.md).
    """

    who: tuple[str, ...] = Field(
        min_length=1,
        max_length=WHO_MAX,
        description="`user:NAME`, `role:NAME`, `claim:NAME=VALUE` of a token, `known` (everybody "
        "who has proved a name) or `anyone`.",
        examples=[("role:vehicle",)],
    )
    connections: Count = Field(
        None, description="Connections at once; a further one is refused (0x97).", examples=[2]
    )
    messages_per_s: Rate = Field(
        None,
        description="Messages published in a second, on all connections of the user; beyond it "
        "they are read more slowly.",
        examples=[100],
    )
    bytes_per_s: Rate = Field(
        None,
        description="Bytes sent in a second; beyond it the user's connections are read more "
        "slowly.",
        examples=[1_000_000],
    )
    subscriptions: Count = Field(
        None,
        description="Subscriptions of all sessions; a further one is refused (0x97).",
        examples=[50],
    )
    stored_bytes: Count = Field(
        None,
        description="Bytes of retained messages, and of messages that wait for their first "
        "subscriber, each; a further message is refused (0x97).",
        examples=[1_000_000],
    )
    parameters: Count = Field(
        None,
        description="Parameters that are declared; a declaration of further ones is refused.",
        examples=[1_000],
    )
    requests: Count = Field(
        None, description="Open requests; a further one is refused (0x97).", examples=[10]
    )

    @model_validator(mode="after")
    def _is_about_somebody(self) -> "QuotaSection":
        try:
            NativeRule(list(self.who), True, ["publish"], ["#"])
        except PlanError as error:
            raise ValueError(str(error)) from None
        if not self.numbers():
            raise ValueError("a quota needs a number: connections, messages_per_s or another key")
        return self

    def numbers(self) -> dict[str, int]:
        """The keys that are set."""
        return {key: number for key, number in self if key != "who" and number is not None}

    def tuple(self) -> QuotaTuple:
        """The table as the engine takes it."""
        return list(self.who), self.numbers()
