"""Tells the systemd that started this process how far it is, as sd_notify(3) does.

Never waits, never fails.
"""

import contextlib
import os
import socket
import time

ADDRESS = "NOTIFY_SOCKET"


def tell_systemd(*facts: str) -> None:
    """Send facts such as READY=1. Without a systemd that listens, nothing happens."""
    address = os.environ.get(ADDRESS, "")
    if not address.startswith(("/", "@")):
        return
    kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    # A systemd that is away or busy must not end the broker.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, kind) as channel:
        channel.sendto("\n".join(facts).encode(), _name(address))


def tell_reloading() -> None:
    """The configuration is read again; READY=1 ends it. systemd asks for the time, too."""
    tell_systemd("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


def _name(address: str) -> str:
    """An abstract name begins with a zero byte, which systemd writes as @."""
    return f"\0{address[1:]}" if address.startswith("@") else address
