"""The addresses of this machine."""

import ipaddress
from typing import TypeAlias

import ifaddr

Interface: TypeAlias = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def interfaces() -> list[Interface]:
    """Every address by which others might reach this machine, with its network."""
    found = [
        ipaddress.ip_interface(f"{ip.ip if ip.is_IPv4 else ip.ip[0]}/{ip.network_prefix}")
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
    ]
    return [one for one in found if not (one.ip.is_loopback or one.ip.is_link_local)]


def addresses() -> list[str]:
    """Every address by which others might reach this machine."""
    return [str(one.ip) for one in interfaces()]


def broadcasts() -> list[str]:
    """The broadcast address of each network of this machine."""
    networks = (one.network for one in interfaces() if one.version == 4)
    return sorted({str(net.broadcast_address) for net in networks if net.prefixlen < 31})
