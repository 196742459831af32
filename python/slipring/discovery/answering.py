"""A broker answers questions over UDP: never more bytes than it was sent, and not too often.

What is not a question is ignored and counted; nobody can make it fail, or use it against others.
"""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from slipring.discovery.announcement import Announcement, encode
from slipring.discovery.question import decode_question
from slipring.discovery.quota import Quota

OUTCOMES = ("answered", "malformed", "short", "limited", "silent")
"""What becomes of a datagram. Short: shorter than its answer. Silent: nothing to tell there."""
LOOPBACK_BROADCAST = "127.255.255.255"
"""Reaches every broker of this machine, where 127.0.0.1 reaches the one that came last."""
HERE = ("127.0.0.1", LOOPBACK_BROADCAST, "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a broadcast is received nowhere else)


class Answers:
    """What is answered to whom, and how much of it was. Does not send."""

    def __init__(self, tell: Callable[[], Announcement]) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
        self._tell = tell
        self._quota = Quota()

    def answer(self, datagram: bytes, source: str, now_s: float) -> bytes | None:
        """The answer to a datagram, or None where there is none."""
        answer, outcome = self._judge(datagram, source, now_s)
        self.counts[outcome] += 1
        return answer

    def _judge(self, datagram: bytes, source: str, now_s: float) -> tuple[bytes | None, str]:
        asked = decode_question(datagram)
        if asked is None:
            return None, "malformed"
        if not self._quota.take(source, now_s):
            return None, "limited"
        told = self._tell().for_one(source)
        if not told.places:
            return None, "silent"
        answer = encode(told, *asked)
        if len(answer) > len(datagram):
            return None, "short"
        return answer, "answered"


class AnsweringSocket(asyncio.DatagramProtocol):
    """One socket on which questions come."""

    def __init__(self, answers: Answers, by: asyncio.DatagramTransport | None = None) -> None:
        """Answer by another socket where a broadcast is received: nothing is sent from there."""
        self._answers = answers
        self._by = by

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        """Asyncio has the socket."""
        self._by = self._by or transport

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        """Something came."""
        answer = self._answers.answer(data, str(addr[0]), time.monotonic())
        if answer and self._by and not self._by.is_closing():
            self._by.sendto(answer, addr)


async def listen(
    answers: Answers, hosts: tuple[str, ...], port: int
) -> list[asyncio.DatagramTransport]:
    """Answer at these addresses, on one port; the first one has to be there (OSError)."""
    opened: list[asyncio.DatagramTransport] = []
    for host in hosts:
        try:
            bound = open_socket(host, port)
        except OSError:
            if not opened:
                raise
            continue  # a machine without IPv6
        port = int(bound.getsockname()[1])
        by = opened[0] if host == LOOPBACK_BROADCAST else None
        made, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            partial(AnsweringSocket, answers, by), sock=bound
        )
        opened.append(made)
    return opened


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that shares its port with other brokers of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
    except OSError:
        made.close()
        raise
    return made
