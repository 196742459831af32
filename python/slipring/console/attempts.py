"""How often wrong passwords may be tried: after a few, each next try has to wait longer. Pure.

Wrong passwords of a name are counted together for all addresses, so that many of them cannot guess
faster than one. Who guesses could keep the name's owner out that way; so a network from which the
right password came, and the broker's own machine, have a count of the name for themselves.
"""

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
"""Addresses, names, and networks with a right password that are remembered; beyond that the oldest
go.
"""
NAME_MAX = 256
THIS_MACHINE = "this machine"

_Key = tuple[str, str]
"""A network, and a name; one of them may be empty."""


@dataclass(slots=True)
class _Failures:
    count: int
    last_s: float


class _FailureTable:
    """Wrong passwords of each address, or of each name; the oldest first."""

    def __init__(self, free: int, wait_s_max: float) -> None:
        self.free = free
        self.wait_s_max = wait_s_max
        self.rows: OrderedDict[_Key, _Failures] = OrderedDict()

    def wait_s(self, key: _Key, now_s: float) -> float:
        row = self.rows.get(key)
        if row is None or row.count < self.free or now_s - row.last_s > FORGET_S:
            return 0.0
        doubled_s = WAIT_FIRST_S * 2.0 ** min(row.count - self.free, 32)
        return max(0.0, row.last_s + min(self.wait_s_max, doubled_s) - now_s)

    def note(self, key: _Key, now_s: float) -> None:
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
        self._known: OrderedDict[_Key, None] = OrderedDict()
        """Names with a network from which the right password came; the oldest first."""

    def wait_s(self, address: str, name: str | None = None) -> int:
        """Seconds until this address may try this name, or any token, again; 0 is now."""
        now_s, network = self._now_s(), network_of(address)
        wait_s = self._addresses.wait_s((network, ""), now_s)
        if name is not None:
            wait_s = max(wait_s, self._names.wait_s(self._key(network, name), now_s))
        return math.ceil(wait_s)

    def failed(self, address: str, name: str | None = None) -> None:
        """Note a wrong password of a name, or a wrong token."""
        now_s, network = self._now_s(), network_of(address)
        self._addresses.note((network, ""), now_s)
        if name is not None:
            self._names.note(self._key(network, name), now_s)

    def succeeded(self, address: str, name: str) -> None:
        """Forget the wrong passwords of a name here; those of its address may be of others."""
        network = network_of(address)
        self._names.rows.pop(self._key(network, name), None)
        own = (network, name[:NAME_MAX])
        self._known.pop(own, None)
        self._known[own] = None
        if len(self._known) > KEPT_MAX:
            self._known.popitem(last=False)

    def _key(self, network: str, name: str) -> _Key:
        own = (network, name[:NAME_MAX])
        has_own = own in self._known or network == THIS_MACHINE
        return own if has_own else ("", name[:NAME_MAX])


def network_of(address: str) -> str:
    """Who has one IPv6 address has its network of 64 bits; this machine has many, too."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if parsed.is_loopback:
        return THIS_MACHINE
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(IPv6Address(int(parsed) >> 64 << 64))
