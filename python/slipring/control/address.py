"""HOST:PORT as people write it: parsed once, then trusted."""

from dataclasses import dataclass
from typing import Self

from slipring.discovery.endpoint import is_loopback


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0 picks a free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `HOST:PORT` or `[IPV6]:PORT`; ValueError says what is wrong."""
        host, colon, port = text.rpartition(":")
        if not colon or not host:
            raise ValueError(f"'{text}' is not HOST:PORT, for example 127.0.0.1:1883")
        if not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"'{port}' in '{text}' is not a port (0 to 65535)")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            raise ValueError(f"'{text}': write an IPv6 address in brackets, as in [::1]:{port}")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        """Write it as HOST:PORT."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"
