"""Which requests the console answers: from its own origin, by a name of this machine. Pure."""

import re
from collections.abc import Iterable
from enum import Enum

from slipring.control.address import Address

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
SECRET_HEADERS = SECURITY_HEADERS | {"cache-control": "no-store"}
"""Those of an answer with what not everybody may see: no browser keeps it on its disk."""

# RFC 9112, 3.2: a name or an address, and a port. Percent-encoding is not supported.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z._~-]+))(?::[0-9]{0,5})?")


class Verdict(Enum):
    """What is done with a request."""

    OURS = "answered"
    FOREIGN = "refused: it comes from another page, or by a name that is not this machine's"
    MALFORMED = "refused: its headers cannot be understood"


def judge(
    headers: Iterable[tuple[bytes, bytes]],
    listen: Address,
    *,
    is_secure: bool = False,
    behind_proxy: bool = False,
) -> Verdict:
    """Say whether a request names this machine and comes from no other page.

    `is_secure`: pages come by HTTPS only. `behind_proxy`: they name the proxy; then there are
    users, and a cookie is bound to the name, so that another name for this machine shows nothing.

    A page elsewhere must not read telemetry through the visitor's browser (CVE-2026-67405),
    neither by its own origin nor by a name of its own that points to this machine.
    """
    asked = [(name.lower(), value.decode("latin-1")) for name, value in headers]
    hosts = [value for name, value in asked if name == b"host"]
    origins = [value for name, value in asked if name == b"origin"]
    if len(hosts) > 1 or len(origins) > 1:
        return Verdict.MALFORMED
    host = hosts[0] if hosts else ""  # HTTP/1.0 has none
    name = host_name(host)
    if name is None:
        return Verdict.MALFORMED
    is_from_elsewhere = bool(origins) and not _is_own(origins[0], host, is_secure=is_secure)
    is_bound = listen.is_loopback and not behind_proxy
    if is_from_elsewhere or (is_bound and not Address(name, 0).is_loopback):
        return Verdict.FOREIGN
    return Verdict.OURS


def _is_own(origin: str, host: str, *, is_secure: bool) -> bool:
    scheme, _, named = origin.partition("://")
    return named == host and (scheme == "https" or not is_secure)


def host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None if it cannot be understood."""
    named = _HOST.fullmatch(host)
    if named is None:
        return None if host else ""
    return named[1] or named[2]


def headers_of(path: str) -> dict[str, str]:
    """Headers of every answer. The metrics and what is below /api are for one visitor only."""
    is_secret = path == "/metrics" or path.startswith("/api/")
    return SECRET_HEADERS if is_secret else SECURITY_HEADERS


def has_body(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request says that a body follows; the names are in small letters."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in headers
    )
