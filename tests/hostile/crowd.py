"""Thousands of clients in one thread: they connect, are counted by their answers, and go."""

import selectors
import socket
import struct
from collections import Counter

from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker

ANSWER_S = 60
RESET = struct.pack("ii", 1, 0)


class Crowd:
    """Clients that come over TCP, all at once."""

    def __init__(self, broker: RunningBroker, count: int) -> None:
        self.address = (broker.host, broker.port)
        self.sockets = [socket.socket() for _ in range(count)]

    def connect(self, *, clean: bool, properties: bytes) -> Counter[tuple[int, bool]]:
        """Everyone connects; how many got which reason, and whether they had a session."""
        with selectors.DefaultSelector() as selector:
            for number, one in enumerate(self.sockets):
                one.setblocking(False)
                one.connect_ex(self.address)
                hello = V5.connect(f"crowd-{number}", clean=clean, properties=properties)
                selector.register(one, selectors.EVENT_WRITE, hello)
            return self._answers(selector)

    def _answers(self, selector: selectors.DefaultSelector) -> Counter[tuple[int, bool]]:
        answers: Counter[tuple[int, bool]] = Counter()
        while selector.get_map():
            ready = selector.select(ANSWER_S)
            assert ready, f"{len(selector.get_map())} clients have no answer"
            for key, events in ready:
                one = key.fileobj
                assert isinstance(one, socket.socket)
                if events & selectors.EVENT_WRITE:
                    one.send(key.data)
                    selector.modify(one, selectors.EVENT_READ)
                else:
                    selector.unregister(one)
                    answer = V5.read(one.recv(4096))
                    answers[answer.reason, answer.session_present] += 1
        return answers

    def hang_up(self) -> None:
        """End all connections as a lost network does, leaving no ports waiting."""
        for one in self.sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            one.close()
