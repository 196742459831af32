"""When a token ends, as it says itself. Never verifies it: only the broker can."""

import base64
import binascii
import json
import math


def token_end_s(token: bytes) -> float | None:
    """The `exp` of a JWT, in seconds since 1970; None for a token that does not say."""
    parts = token.split(b".")
    if len(parts) != 3:  # header, claims, signature
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    end = claims.get("exp") if isinstance(claims, dict) else None
    if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
        return None
    return float(end)
