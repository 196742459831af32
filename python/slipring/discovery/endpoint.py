"""Where a broker can be reached, as it tells others. Pure."""

import ipaddress
from dataclasses import dataclass
from typing import Any, Self

UNIX = "unix"
SCHEMES = ("mqtt", "mqtts", "ws", "wss", UNIX, "http")
WEBSOCKET = ("ws", "wss")
WEBSOCKET_PATH = "/mqtt"
"""The usual path of MQTT; Slipring takes any path."""
HOST_CHARACTERS_MAX = 255
PATH_CHARACTERS_MAX = 1024
ANY_IPV4, ANY_IPV6 = "0.0.0.0", "::"  # noqa: S104 (nothing is bound here)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A listener of a broker, or its console: a scheme and an address."""

    name: str
    scheme: str
    host: str | None = None
    """None: the address that the answer came from. For a Unix socket: its path."""
    port: int = 0
    path: str = WEBSOCKET_PATH
    """The path of a WebSocket's request; other schemes have none."""

    @classmethod
    def at(cls, name: str, scheme: str, address: str) -> Self:
        """Parse `HOST:PORT`, `[IPV6]:PORT` or `unix:/PATH`, as the engine writes it."""
        if address.startswith(f"{UNIX}:"):
            return cls(name, UNIX, address.removeprefix(f"{UNIX}:"))
        host, _, port = address.rpartition(":")
        return cls(name, scheme, host.strip("[]"), int(port))

    @classmethod
    def parse(cls, told: Any) -> Self:
        """Parse an endpoint in another broker's answer; or ValueError."""
        told = told if isinstance(told, dict) else {}
        name, scheme, host = told.get("name"), told.get("scheme"), told.get("host")
        if not isinstance(name, str) or scheme not in SCHEMES:
            raise ValueError("a listener has a name and a scheme")
        if scheme == UNIX:
            path = told.get("path")
            if not isinstance(path, str) or not 0 < len(path) <= PATH_CHARACTERS_MAX:
                raise ValueError("a Unix socket has a path")
            return cls(name, scheme, path)
        port = told.get("port")
        if type(port) is not int or not 0 < port <= 65535:
            raise ValueError("a listener has a port")
        if host is not None and not _is_host(host):
            raise ValueError("a host is an address or a name")
        return cls(name, scheme, host, port)

    def as_json(self) -> dict[str, Any]:
        """The fields of an answer, which `parse` reads."""
        if self.scheme == UNIX:
            return {"name": self.name, "scheme": UNIX, "path": self.host}
        host = {} if self.is_everywhere else {"host": self.host}
        return {"name": self.name, "scheme": self.scheme, **host, "port": self.port}

    @property
    def is_local(self) -> bool:
        """Whether only the broker's own machine can reach it."""
        return self.scheme == UNIX or (self.host is not None and is_loopback(self.host))

    @property
    def is_everywhere(self) -> bool:
        """Whether several addresses of the machine lead to it."""
        return self.host in (None, ANY_IPV4, ANY_IPV6)

    def takes(self, address: str) -> bool:
        """Whether an address of this family (IPv4 or IPv6) can reach it."""
        return self.host != ANY_IPV4 or ":" not in address

    def url(self, source: str) -> str:
        """The URL to connect to, for an answer that came from `source`."""
        if self.scheme == UNIX:
            return f"{UNIX}:{self.host}"
        host = source if self.host is None or self.is_everywhere else self.host
        path = self.path if self.scheme in WEBSOCKET else ""
        return f"{self.scheme}://{f'[{host}]' if ':' in host else host}:{self.port}{path}"


def is_loopback(host: str) -> bool:
    """Whether an address is a loopback address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)  # an IPv4 client of a dual-stack socket
    return bool((mapped or address).is_loopback)


def is_path(path: str) -> bool:
    """Whether a WebSocket's request can contain it: nothing that ends the line or the path."""
    if not path.startswith("/") or len(path) > PATH_CHARACTERS_MAX or not path.isascii():
        return False
    return path.isprintable() and not any(letter in path for letter in ' ?#\\"<>')


def _is_host(host: object) -> bool:
    """Whether it contains nothing that could be another part of a URL."""
    if not isinstance(host, str) or not 0 < len(host) <= HOST_CHARACTERS_MAX:
        return False
    return host.isascii() and all(letter.isalnum() or letter in ".-:" for letter in host)
