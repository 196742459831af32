"""What an asker wants of a request, and the user properties that tell the broker. Pure."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, Self, TypedDict

Priority = Literal["high", "normal", "low"]
Balance = Literal["first-free", "round-robin", "random", "fastest", "least-loaded"]

PRIORITIES = ("high", "normal", "low")
BALANCES = ("first-free", "round-robin", "random", "fastest", "least-loaded")
RETRY_MAX = 16
TIMEOUT_S = 30.0
"""The time-out of a request that names none."""

STATUS = "slipring-status"
"""The user property that says how a request ended, or that an answer is a part."""
REASON = "slipring-reason"
"""The user property with the broker's words about an end."""
TIMEOUT = "slipring-timeout"
"""The user property that makes a message a request: its time-out in seconds."""
RETRY = "slipring-retry"
"""The user property that says how many other services may try."""


class RequestOptions(TypedDict, total=False):
    """The options of `Bus.request`, which documents them."""

    timeout_s: float
    wait: bool
    priority: Priority | None
    retry: int
    balance: Balance | None
    qos: int
    properties: Mapping[str, str] | None
    content_type: str | None


OPTIONS = RequestOptions.__optional_keys__
"""Their names."""


class RequestTerms(NamedTuple):
    """What an asker wants of a request."""

    timeout_s: float
    wait: bool
    priority: Priority | None
    retry: int
    balance: Balance | None
    qos: int
    user: tuple[tuple[str, str], ...]
    """Other user properties."""
    content_type: str | None

    @classmethod
    def of(cls, options: RequestOptions) -> Self:
        """The terms of options, of which some may be missing; raises TypeError for others."""
        if others := options.keys() - OPTIONS:
            has = f"it has {', '.join(sorted(OPTIONS))}"
            raise TypeError(f"a request has no option {', '.join(sorted(others))}; {has}")
        return cls(
            options.get("timeout_s", TIMEOUT_S),
            options.get("wait", False),
            options.get("priority"),
            options.get("retry", 0),
            options.get("balance"),
            options.get("qos", 1),
            tuple((options.get("properties") or {}).items()),
            options.get("content_type"),
        )


@lru_cache(maxsize=64)
def user_properties(terms: RequestTerms) -> tuple[tuple[str, str], ...]:
    """The user properties of a request; raises ValueError if a term makes no sense."""
    _check(terms)
    pairs = [(TIMEOUT, _seconds(terms.timeout_s))]
    if terms.wait:
        pairs.append(("slipring-wait", "1"))
    if terms.priority is not None:
        pairs.append(("slipring-priority", terms.priority))
    if terms.retry:
        pairs.append((RETRY, str(terms.retry)))
    if terms.balance is not None:
        pairs.append(("slipring-balance", terms.balance))
    return (*pairs, *terms.user)


def _check(terms: RequestTerms) -> None:
    if not 0 < terms.timeout_s < math.inf:
        raise ValueError(f"timeout_s is seconds, more than 0, not {terms.timeout_s}")
    if terms.priority is not None and terms.priority not in PRIORITIES:
        raise ValueError(f"priority is one of {', '.join(PRIORITIES)}, not {terms.priority!r}")
    if not 0 <= terms.retry <= RETRY_MAX:
        raise ValueError(f"retry is 0 to {RETRY_MAX} other services, not {terms.retry}")
    if terms.balance is not None and terms.balance not in BALANCES:
        raise ValueError(f"balance is one of {', '.join(BALANCES)}, not {terms.balance!r}")


def _seconds(seconds: float) -> str:
    """A decimal number without an exponent, at least a microsecond."""
    return f"{max(seconds, 1e-6):.6f}".rstrip("0").rstrip(".")
