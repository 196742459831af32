"""Whose a token is and when it ends, as it says itself. Never verifies it: only the broker can."""

import base64
import binascii
import json
from typing import Any


def token_end_s(token: bytes) -> float | None:
    """The `exp` of a JWT, in seconds since 1970; None for a token that does not say."""
    return _seconds(_claims(token), "exp")


def token_user(token: bytes) -> str | None:
    """The `sub` of a JWT, which names the user in tokens of our brokers."""
    user = _claims(token).get("sub")
    return user if isinstance(user, str) else None


def token_left_s(token: bytes, now_s: float) -> float | None:
    """How long a token lasts that was made just now; None for a token that does not say.

    Its own length (`iat` to `exp`) counts where this clock and that of its issuer differ so much
    that the token seems to have ended, or to last longer than it was made for.
    """
    claims = _claims(token)
    begin_s, end_s = _seconds(claims, "iat"), _seconds(claims, "exp")
    if end_s is None:
        return None
    left_s = end_s - now_s
    if begin_s is None or begin_s >= end_s:
        return left_s
    length_s = end_s - begin_s
    return length_s if left_s <= 0 else min(left_s, length_s)


def _claims(token: bytes) -> dict[str, Any]:
    parts = token.split(b".")
    if len(parts) != 3:  # header, claims, signature
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def _seconds(claims: dict[str, Any], name: str) -> float | None:
    """A claim that is a time; the years 1970 to 9999 are, and nothing else."""
    at_s = claims.get(name)
    if isinstance(at_s, bool) or not isinstance(at_s, int | float):
        return None
    return float(at_s) if 0 <= at_s < 253_402_300_800 else None
