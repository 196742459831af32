"""How often wrong passwords may be tried: after a few, each next try has to wait longer. Pure."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from time import monotonic

ADDRESS_FREE = 20
"""Wrong passwords of one address that cost no wait: many people may come from it."""
NAME_FREE = 5
"""The same of one name."""
WAIT_FIRST_S = 1.0
ADDRESS_WAIT_S_MAX = 300.0
NAME_WAIT_S_MAX = 30.0
"""Who guesses a name must not keep its owner out for long."""
FORGET_S = 900.0
"""After so long without a wrong password, all is forgotten."""
KEPT_MAX = 10_000
"""Addresses, and names, that are remembered; beyond that the oldest go."""
NAME_MAX = 256


@dataclass(slots=True)
class _Failures:
    count: int
    last_s: float


class _FailureTable:
    """Wrong passwords of each address, or of each name; the oldest first."""

    def __init__(self, free: int, wait_s_max: float) -> None:
        self.free = free
        self.wait_s_max = wait_s_max
        self.rows: OrderedDict[str, _Failures] = OrderedDict()

    def wait_s(self, key: str, now_s: float) -> float:
        row = self.rows.get(key)
        if row is None or row.count < self.free or now_s - row.last_s > FORGET_S:
            return 0.0
        doubled_s = WAIT_FIRST_S * 2.0 ** min(row.count - self.free, 32)
        return max(0.0, row.last_s + min(self.wait_s_max, doubled_s) - now_s)

    def note(self, key: str, now_s: float) -> None:
        row = self.rows.pop(key, None)
        is_recent = row is not None and now_s - row.last_s <= FORGET_S
        count = row.count + 1 if row is not None and is_recent else 1
        self.rows[key] = _Failures(count, now_s)
        if len(self.rows) > KEPT_MAX:
            self.rows.popitem(last=False)


class LoginAttempts:
    """Counts wrong passwords by address and by name."""

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        """Start with none."""
        self._now_s = now_s
        self._addresses = _FailureTable(ADDRESS_FREE, ADDRESS_WAIT_S_MAX)
        self._names = _FailureTable(NAME_FREE, NAME_WAIT_S_MAX)

    def wait_s(self, address: str, name: str) -> int:
        """Seconds until this address may try this name again; 0 is now."""
        now_s = self._now_s()
        by_address = self._addresses.wait_s(network_of(address), now_s)
        return math.ceil(max(by_address, self._names.wait_s(name[:NAME_MAX], now_s)))

    def failed(self, address: str, name: str | None = None) -> None:
        """Note a wrong password of a name, or a wrong token."""
        now_s = self._now_s()
        self._addresses.note(network_of(address), now_s)
        if name is not None:
            self._names.note(name[:NAME_MAX], now_s)

    def succeeded(self, name: str) -> None:
        """Forget the wrong passwords of a name; those of its address may be of others."""
        self._names.rows.pop(name[:NAME_MAX], None)


def network_of(address: str) -> str:
    """Who has one IPv6 address has its network of 64 bits."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> 64 << 64))
