"""Shows what a token says, without checking it. Nothing may be decided by it."""

import base64
import binascii
import json
from typing import Any

from slipring.errors import TokenError


def decoded(text: bytes) -> dict[str, Any]:
    """The header and the claims of a token; TokenError if it is none."""
    parts = text.split(b".")
    if len(parts) != 3:
        raise TokenError("this is not a token: it has not three parts with dots between them")
    try:
        header, claims = (json.loads(_bytes(part)) for part in parts[:2])
    except (ValueError, binascii.Error, RecursionError):
        raise TokenError("this is not a token: its parts are not JSON in base64url") from None
    return {"header": header, "claims": claims}


def _bytes(part: bytes) -> bytes:
    return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))
