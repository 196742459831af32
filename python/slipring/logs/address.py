"""Addresses of log servers, and the kinds of servers."""

from dataclasses import dataclass
from typing import Literal, Self
from urllib.parse import urlsplit

LogServerKind = Literal["gelf", "syslog", "otlp"]
SCHEMES: dict[LogServerKind, tuple[str, ...]] = {
    "gelf": ("udp", "tcp", "tls"),
    "syslog": ("udp", "tcp", "tls", "unix"),
    "otlp": ("http", "https"),
}
SECURE = frozenset({"tls", "https"})
"""Schemes with certificates."""
PORTS = {"http": 80, "https": 443}
"""Ports that need not be written."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a log server is."""

    scheme: str
    host: str
    """Empty for a Unix socket."""
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `SCHEME://HOST:PORT` or `unix:///PATH`; ValueError says what is wrong."""
        parts = urlsplit(text)
        known = sorted({one for schemes in SCHEMES.values() for one in schemes})
        if parts.scheme not in known:
            raise ValueError(f"'{text}' does not begin with one of {', '.join(known)}, and ://")
        if parts.query or parts.fragment or parts.username or parts.password:
            raise ValueError(f"'{text}' has more than a host, a port and a path")
        if parts.scheme == "unix":
            if parts.netloc or not parts.path:
                raise ValueError(f"'{text}' has no path; write unix:///PATH")
            return cls(parts.scheme, "", 0, parts.path)
        port = parts.port or PORTS.get(parts.scheme)
        if not parts.hostname or not port:
            raise ValueError(f"'{text}' has no host or no port; write SCHEME://HOST:PORT")
        try:
            parts.hostname.encode("idna")
        except UnicodeError:
            raise ValueError(f"'{text}' has no valid host name") from None
        if parts.path.strip("/") and parts.scheme not in PORTS:
            raise ValueError(f"'{text}' has a path, which {parts.scheme} does not know")
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))
