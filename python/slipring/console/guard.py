"""Who may talk to the console: pages of its own origin, by a name of its own. Pure."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from slipring.control.address import Address

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def is_ours(headers: Mapping[str, str], listen: Address) -> bool:
    """Tell whether a request comes by a name of this machine and from no other page.

    A page elsewhere must not read telemetry through the visitor's browser (CVE-2026-67405), neither by its own
    origin nor by a name of its own that points to this machine.
    """
    host = headers.get("host", "")
    if listen.is_loopback and not _is_local(host):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == host


def _is_local(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    return Address(name, 0).is_loopback
