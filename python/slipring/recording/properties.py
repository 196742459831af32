"""MQTT 5 properties of a message as keys of a JSON row, and back to their encoding.

User properties are pairs under `properties`, as `slipring sub --format json` prints them; the other
properties are under their names. The order of the keys has no meaning, and is not kept.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from slipring.native import decode_properties, encode_properties

USER = "properties"
REQUEST_PREFIX = "slipring-"
REQUEST = "slipring-timeout"
"""The user property that makes a message a request."""
CORRELATION = "correlation_data_base64"
RAW = "properties_base64"
"""The encoded properties of a message, if they cannot be decoded."""
NAMED = ("payload_format", "message_expiry_s", "content_type", "response_topic")


def to_keys(encoded: bytes) -> dict[str, Any]:
    """The keys for encoded properties."""
    if not encoded:
        return {}
    try:
        decoded = decode_properties(encoded)
    except ValueError:
        return {RAW: base64.b64encode(encoded).decode()}
    found: dict[str, Any] = dict(decoded)
    keys = {name: found[name] for name in NAMED if name in found}
    if "correlation_data" in found:
        keys[CORRELATION] = base64.b64encode(found["correlation_data"]).decode()
    if "user" in found:
        keys[USER] = [value for name, value in decoded if name == "user"]
    return keys


def from_keys(row: Mapping[str, Any]) -> bytes:
    """The encoded properties for the keys of a row; or ValueError."""
    if RAW in row:
        return from_base64(row, RAW)
    pairs: list[tuple[str, Any]] = [(name, row[name]) for name in NAMED if name in row]
    if CORRELATION in row:
        pairs.append(("correlation_data", from_base64(row, CORRELATION)))
    pairs += [("user", pair) for pair in _user_pairs(row.get(USER, []))]
    return encode_properties(pairs) if pairs else b""


def of_plain_message(encoded: bytes) -> bytes:
    """The properties of a request without what makes it one; others as they are."""
    try:
        decoded = decode_properties(encoded)
    except ValueError:
        return encoded
    if not any(name == "user" and value[0] == REQUEST for name, value in decoded):
        return encoded
    pairs = [(name, value) for name, value in decoded if not _is_of_request(name, value)]
    return encode_properties(pairs) if pairs else b""


def _is_of_request(name: str, value: Any) -> bool:
    if name == "user":
        return str(value[0]).startswith(REQUEST_PREFIX)
    return name in ("response_topic", "correlation_data")


def from_base64(row: Mapping[str, Any], key: str) -> bytes:
    """The bytes under a key; ValueError if they are not Base64."""
    try:
        return base64.b64decode(row[key], validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ValueError(f"{key} is not Base64") from None


def _user_pairs(value: object) -> list[tuple[str, str]]:
    pairs = value.items() if isinstance(value, dict) else value
    try:
        return [(name, text) for name, text in pairs]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ValueError(f"{USER} is not a list of pairs of text") from None
