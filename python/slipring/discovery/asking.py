"""Asks over UDP which brokers there are: by broadcast, and host by host."""

import asyncio
import secrets
import socket
from collections.abc import Iterable, Sequence
from typing import Any

from slipring.discovery.announcement import decode
from slipring.discovery.answering import LOOPBACK_BROADCAST
from slipring.discovery.found import FoundBroker
from slipring.discovery.network import broadcasts
from slipring.discovery.question import encode_question

AGAIN_S = 0.3
"""The question is repeated: it or its answer may be lost."""
FOUND_MAX = 10_000
"""Answers that one search keeps."""
LIMITED_BROADCAST = "255.255.255.255"


class _AskingSocket(asyncio.DatagramProtocol):
    """Keeps the answers to questions with one nonce."""

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(8)
        self.found: dict[FoundBroker, None] = {}

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        """A datagram has arrived."""
        answer = decode(data, self.nonce, str(addr[0]))
        if answer is not None and len(self.found) < FOUND_MAX:
            self.found[answer] = None


async def ask(hosts: Sequence[str], port: int, timeout_s: float) -> list[FoundBroker]:
    """The distinct answers that come within a time; a broker may have given several."""
    asking = _AskingSocket()
    loop = asyncio.get_running_loop()
    targets = await _targets(hosts, port)
    opened = []
    for family in {family for family, _ in targets}:
        made, _ = await loop.create_datagram_endpoint(lambda: asking, sock=_open(family))
        opened.append((family, made))
    try:
        await _repeat(opened, targets, encode_question(asking.nonce), timeout_s)
    finally:
        for _, made in opened:
            made.close()
    return list(asking.found)


async def _repeat(
    opened: Iterable[tuple[int, asyncio.DatagramTransport]],
    targets: Sequence[tuple[int, tuple[Any, ...]]],
    question: bytes,
    timeout_s: float,
) -> None:
    loop = asyncio.get_running_loop()
    end_s = loop.time() + timeout_s
    while (left_s := end_s - loop.time()) > 0:
        for family, made in opened:
            for of, target in targets:
                if of == family:
                    made.sendto(question, target)
        await asyncio.sleep(min(AGAIN_S, left_s))


async def _targets(hosts: Sequence[str], port: int) -> list[tuple[int, tuple[Any, ...]]]:
    """The addresses to ask; OSError for an unknown host."""
    everyone = [LOOPBACK_BROADCAST, *broadcasts(), LIMITED_BROADCAST]
    targets: list[tuple[int, tuple[Any, ...]]] = [(socket.AF_INET, (one, port)) for one in everyone]
    for host in hosts:
        known = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_DGRAM)
        targets += ((family, address) for family, _, _, _, address in known)
    return targets


def _open(family: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setblocking(False)
    if family == socket.AF_INET:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        made.bind(("0.0.0.0", 0))  # noqa: S104 (answers come from every network)
    return made
