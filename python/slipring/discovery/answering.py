"""A broker answers questions over UDP: never with more bytes than the question, and not too often.

So nobody can use it to flood others. What is not a question is ignored and counted.
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
from slipring.discovery.rate_limit import RateLimit

OUTCOMES = ("answered", "malformed", "short", "limited", "silent")
"""What became of a datagram. Short: shorter than its answer. Silent: no endpoint for its sender."""
LOOPBACK_BROADCAST = "127.255.255.255"
"""Reaches every broker of this machine; 127.0.0.1 reaches only the one started last."""
HERE = ("127.0.0.1", LOOPBACK_BROADCAST, "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a broadcast is received nowhere else)


class Responder:
    """Decides on an answer to each datagram, and counts the outcomes. Sends nothing."""

    def __init__(self, tell: Callable[[], Announcement]) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
        self._tell = tell
        self._rate_limit = RateLimit()

    def answer(self, datagram: bytes, source: str, now_s: float) -> bytes | None:
        """The answer to a datagram; None if it gets none."""
        answer, outcome = self._judge(datagram, source, now_s)
        self.counts[outcome] += 1
        return answer

    def _judge(self, datagram: bytes, source: str, now_s: float) -> tuple[bytes | None, str]:
        asked = decode_question(datagram)
        if asked is None:
            return None, "malformed"
        if not self._rate_limit.take(source, now_s):
            return None, "limited"
        told = self._tell().for_one(source)
        if not told.endpoints:
            return None, "silent"
        answer = encode(told, *asked)
        if len(answer) > len(datagram):
            return None, "short"
        return answer, "answered"


class _AnsweringSocket(asyncio.DatagramProtocol):
    """A socket that receives questions."""

    def __init__(self, responder: Responder, by: asyncio.DatagramTransport | None = None) -> None:
        """`by` sends the answers, for a socket with a broadcast address, which cannot send."""
        self._responder = responder
        self._by = by

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        """Asyncio has opened the socket."""
        self._by = self._by or transport

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        """A datagram has arrived."""
        answer = self._responder.answer(data, str(addr[0]), time.monotonic())
        if answer and self._by and not self._by.is_closing():
            self._by.sendto(answer, addr)


async def listen(
    answers: Responder, hosts: tuple[str, ...], port: int
) -> list[asyncio.DatagramTransport]:
    """Answer at these addresses, on one port; OSError if the first one cannot be opened."""
    opened: list[asyncio.DatagramTransport] = []
    for host in hosts:
        try:
            bound = _open_socket(host, port)
        except OSError:
            if not opened:
                raise
            continue  # a machine without IPv6
        port = int(bound.getsockname()[1])
        by = opened[0] if host == LOOPBACK_BROADCAST else None
        made, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            partial(_AnsweringSocket, answers, by), sock=bound
        )
        opened.append(made)
    return opened


def _open_socket(host: str, port: int) -> socket.socket:
    """A socket that can share its port with other brokers of this machine."""
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
