"""Plays the steps of a row against a broker, with a socket for each name."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from tests.conformance.expected import Known, differences
from tests.conformance.notation import Line, as_filter, as_packet
from tests.conformance.row import Case
from tests.mqtt_bytes import Value
from tests.packets import V5, Kind, Packet
from tests.raw_mqtt import RawPeer

KNOWN = re.compile(r"\$\w+")
FILTER = re.compile(r"(?:b?'(?:[^'\\]|\\.)*'|[^\s'])+")


class Aliases:
    """The topic aliases the broker gave one connection; it may use any, or none."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.topics: dict[Value, str] = {}

    def resolved(self, got: Packet) -> Packet:
        """The same packet with its topic, and without its alias."""
        if got.kind is not Kind.PUBLISH or "topic_alias" not in got.properties:
            return got
        (alias,) = got.properties["topic_alias"]
        assert isinstance(alias, int)
        assert 1 <= alias <= self.maximum, f"the alias {alias} of at most {self.maximum}: {got}"
        if got.topic:
            self.topics[alias] = got.topic
        others = {name: got.properties[name] for name in got.properties if name != "topic_alias"}
        return replace(got, topic=self.topics[alias], properties=others)


class Play:
    """One case being played: its connections, and what it has learnt."""

    def __init__(self, host: str, port: int, case: Case, number: int, stack: ExitStack) -> None:
        self.address = host, port
        self.case = case
        self.version = case.version
        self.topic = f"t{number}"
        self.client_id = f"c{number}"
        self.stack = stack
        self.peers: dict[str, RawPeer] = {}
        self.gone: set[str] = set()
        self.known: Known = {}
        self.aliases: dict[str, Aliases] = {}
        self.unordered: list[tuple[str, Line]] = []

    def run(self) -> None:
        for number, step in enumerate(self.case.steps(), start=1):
            name, verb, rest = self._split(step)
            try:
                if verb != "~":
                    self._finish_unordered()
                self._verbs()[verb](name, rest)
            except Exception as error:
                error.add_note(f"step {number} of {self.case}: {step}")
                raise
        self._finish_unordered()

    def _split(self, step: str) -> tuple[str, str, str]:
        step = step.replace("{t}", self.topic).replace("{id}", self.client_id)
        name, verb, *rest = step.split(maxsplit=2)
        return name, verb, rest[0] if rest else ""

    def _verbs(self) -> dict[str, Callable[[str, str], None]]:
        return {
            ">": self._send,
            "<": self._receive,
            "~": lambda name, rest: self.unordered.append((name, Line.parse(rest))),
            "connects": self._connect,
            "subscribes": self._subscribe,
            "differ": lambda _, rest: self._differ(rest.split()),
            "closes": lambda name, _: self._end(name).close(),
            "resets": lambda name, _: self._end(name).hang_up(),
        }

    def _peer(self, name: str) -> RawPeer:
        if name not in self.peers:
            peer = RawPeer(*self.address, version=self.version)
            self.peers[name] = self.stack.enter_context(peer)
        return self.peers[name]

    def _end(self, name: str) -> RawPeer:
        self.gone.add(name)
        return self._peer(name)

    def _send(self, name: str, rest: str) -> None:
        rest = KNOWN.sub(lambda found: str(self.known.get(found[0], found[0])), rest)
        lines = [Line.parse(part) for part in rest.split(" + ")]
        client_id = self.client_id + name.rstrip("'")
        packets = [as_packet(self.version, line, client_id, self.topic) for line in lines]
        if lines[0].kind == "CONNECT":
            self.aliases[name] = Aliases(lines[0].number("topic_alias_maximum"))
        self._peer(name).send(*packets)
        if lines[-1].kind == "DISCONNECT":
            self.gone.add(name)

    def _receive(self, name: str, rest: str) -> None:
        what, _, reason = rest.partition(" ")
        match what:
            case "closed":
                self._closed(name)
            case "ended":
                if self.version is V5:
                    self._expect(name, Line.parse(f"DISCONNECT reason={reason}"))
                self._closed(name)
            case "refused":
                self._refused(name, reason)
            case "cut":
                self._end(name).drain()
            case "quiet":
                self._quiet(name)
            case _:
                self._expect(name, Line.parse(rest))

    def _expect(self, name: str, line: Line) -> None:
        got = self._packet(name)
        found = self._differences(line, got)
        assert not found, f"{name} received {got}: {'; '.join(found)}"

    def _packet(self, name: str) -> Packet:
        got = self._peer(name).packet()
        return self.aliases[name].resolved(got) if name in self.aliases else got

    def _differences(self, line: Line, got: Packet) -> list[str]:
        return differences(self.version, line, got, self.topic, self.known)

    def _closed(self, name: str) -> None:
        got = self._end(name).receive()
        assert got is None, f"{name} received {got} instead of the end of the connection"

    def _refused(self, name: str, reason: str) -> None:
        got = self._end(name).receive()
        if got is not None and self.version is V5:
            line = Line.parse(f"CONNACK reason={reason}")
            assert not self._differences(line, got), f"{name} received {got}"
            got = self._peer(name).receive()
        assert got is None, f"{name} received {got} instead of the end of the connection"

    def _quiet(self, name: str) -> None:
        for other, peer in self.peers.items():
            if other != name and other not in self.gone:
                peer.settle()
        got = self._peer(name).waiting()
        assert not got, f"{name} received {', '.join(map(str, got))}"

    def _finish_unordered(self) -> None:
        """Read as many packets as there are `~` lines; each line is met by one of them."""
        while self.unordered:
            name = self.unordered[0][0]
            got = self._packet(name)
            lines = [line for whose, line in self.unordered if whose == name]
            met = [line for line in lines if not self._differences(line, got)]
            assert met, f"{name} received {got}, which is none of: {lines}"
            self.unordered.remove((name, met[0]))

    def _differ(self, words: list[str]) -> None:
        values = [self.known[word] for word in words]
        assert len(set(values)) == len(values), f"{words} are {values}"

    def _connect(self, name: str, rest: str) -> None:
        self._send(name, f"CONNECT {rest}")
        self._expect(name, Line.parse("CONNACK session_present=0|1"))

    def _subscribe(self, name: str, rest: str) -> None:
        words = FILTER.findall(rest)
        self._send(name, "SUBSCRIBE id=1 " + " ".join(f"filter={word}" for word in words))
        granted = ",".join(str(as_filter(word)[1] & 3) for word in words)
        self._expect(name, Line.parse(f"SUBACK id=1 reasons={granted}"))


def play(host: str, port: int, case: Case, number: int) -> None:
    """Play one case; `number` makes its topics and client identifiers its own."""
    with ExitStack() as stack:
        Play(host, port, case, number, stack).run()
