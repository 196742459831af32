"""A broker whose rules change while it runs, and the two sides of one question: a client that may
or may not do something, and `boss`, who may do everything.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.access.proofs import (
    ISSUERS,
    PASSWORDS,
    USERS,
    Proof,
    Way,
    connack,
    make_client_certificate,
    make_token,
)
from tests.auth.scram import verifier
from tests.configured_broker import ConfiguredBroker
from tests.hostile.transports import LISTENERS, Transport, make_certificate
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Version, properties

SECURE_LISTENER = """
[[listener]]
name = "secure-web"
listen = "127.0.0.1:0"
websocket = true
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"
"""
ANSWERS = "$slipring/answers/here"


@dataclass(frozen=True)
class Rule:
    """A rule of the config file."""

    who: str
    rights: tuple[str, ...]
    topics: tuple[str, ...]
    allows: bool = True

    def __str__(self) -> str:
        word = "allow" if self.allows else "deny"
        lines = {"who": [self.who], word: list(self.rights), "topics": list(self.topics)}
        written = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
        return f"[[access.rule]]\n{written}"


OPEN = Rule("anyone", ("subscribe",), ("open/#",))
"""What everybody may read: a sign that all before it has come."""
BOSS = Rule("user:boss", ("all",), ("#", "$SYS/#", "$slipring/to/#"))


class World:
    """The broker."""

    def __init__(self, folder: Path, *rules: Rule, extra: str = "", wide: str = "refuse") -> None:
        self.folder = folder
        make_certificate(folder)
        make_client_certificate(folder)
        listeners = LISTENERS.format(folder=folder)
        asks = f'client_ca = "{folder}/ca.pem"\nclient_certificates = "optional"\n'
        secure_web = SECURE_LISTENER.format(folder=folder) + asks
        self.signer = make_token(folder)
        self._rest = listeners.replace('.key"\n', f'.key"\n{asks}', 1) + secure_web
        self._rest += ISSUERS.format(folder=folder) + USERS
        self._extra, self._wide = extra, wide
        self._made = count(1)
        self.rules = rules
        self.configured = ConfiguredBroker(folder, self._text(0, rules))
        self.broker = self.configured.running

    def _text(self, number: int, rules: Iterable[Rule]) -> str:
        head = f'name = "world-{number}"\nallow_anonymous = true\n{self._extra}\n'
        access = f'[access]\nwide = "{self._wide}"\n'
        return head + self._rest + access + "".join(map(str, (BOSS, OPEN, *rules)))

    def allow(self, *rules: Rule) -> None:
        """These rules hold from now on, beside that of boss: the broker has applied them."""
        if rules == self.rules:
            return
        self.rules = rules
        self.reload(rules)

    def reload(self, rules: Iterable[Rule]) -> None:
        number = next(self._made)
        self.configured.reload(self._text(number, rules))
        self.configured.line(f"name is 'world-{number}' now")

    def further_users(self, names: Iterable[str], password: str = "hostile") -> None:
        """Users beside those of the table."""
        stored = verifier(password)
        more = (f"[[user]]\nname = {json.dumps(name)}\npassword = '{stored}'\n" for name in names)
        self._rest += "".join(more)
        self.reload(self.rules)

    def boss(self, client_id: str = "", **options: Any) -> RawPeer:
        peer = RawPeer(self.broker.host, self.broker.port)
        named = {"username": "boss", "password": PASSWORDS["boss"].encode()}
        assert peer.connect(client_id, **named, **options).reason == 0
        return peer

    def names(self) -> Iterator[str]:
        """Names that nobody has used yet."""
        return (f"n{number}" for number in self._made)

    def stop(self) -> None:
        assert self.configured.stop() == 0


def asked(peer: RawPeer, topic: str, body: Any = "") -> dict[str, Any]:
    """The broker's answer to a request at `$slipring/`."""
    payload = body if isinstance(body, str) else json.dumps(body)
    told = properties(response_topic=ANSWERS)
    peer.send(V5.publish(f"$slipring/{topic}", payload.encode(), properties=told))
    answer = peer.until(Kind.PUBLISH)[-1]
    while answer.topic != ANSWERS:
        answer = peer.until(Kind.PUBLISH)[-1]
    found: dict[str, Any] = json.loads(answer.payload)
    return found


def subscribed(peer: RawPeer, wanted: str, qos: int = 0, **user: str) -> int:
    """Subscribe, with these user properties; the reason code. What comes before can be read."""
    pairs = [(name.replace("_", "-"), value) for name, value in user.items()]
    told = properties(user=list(pairs)) if pairs else b""
    peer.send(peer.version.subscribe(1, (wanted, qos), properties=told))
    return peer.until(Kind.SUBACK, keep=True)[-1].reasons[0]


def published(peer: RawPeer, topic: str, payload: bytes = b"1", **options: Any) -> int:
    """Publish at QoS 1; the reason code. What comes before it can still be read."""
    peer.send(peer.version.publish(topic, payload, qos=1, packet_id=7, **options))
    return peer.until(Kind.PUBACK, keep=True)[-1].reason


def heard(peer: RawPeer) -> list[Packet]:
    """The messages that came by now; those that want it are acknowledged."""
    found = [packet for packet in peer.waiting() if packet.kind is Kind.PUBLISH]
    for packet in found:
        if packet.qos == 1:
            peer.send(peer.version.puback(packet.id))
    return found


def hears(peer: RawPeer, payload: bytes) -> bool:
    """Whether a message with this payload came by now."""
    return any(payload in packet.payload for packet in heard(peer))


def hears_before(peer: RawPeer, sign: str, payload: bytes) -> bool:
    """Whether a message with this payload comes before the one on the topic of the sign."""
    is_heard = False
    while (packet := peer.until(Kind.PUBLISH)[-1]).topic != sign:
        is_heard |= payload in packet.payload
        if packet.qos == 1:
            peer.send(peer.version.puback(packet.id))
    peer.send(peer.version.puback(packet.id))
    return is_heard


@dataclass
class Cell:
    """One client of a kind, on a transport, and boss."""

    world: World
    proof: Proof
    transport: Transport
    version: Version
    base: str
    boss: RawPeer
    client: RawPeer | None = None
    options: dict[str, Any] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def connect(self, **options: Any) -> bool:
        """Connect the client, in place of an earlier connection; whether it was let in."""
        if self.client is not None:
            self.client.close()
        way = Way(self.world.broker, self.transport, self.world.folder, self.version)
        client = self.proof.give(way, f"client-{self.base}", options)
        self.client = client
        return connack(client).reason == 0

    @property
    def peer(self) -> RawPeer:
        assert self.client is not None
        return self.client

    def next(self) -> str:
        """A number that this cell has not used."""
        return f"m{next(self.numbers)}"


@contextmanager
def cell_of(world: World, proof: Proof, transport: Transport, version: Version) -> Iterator[Cell]:
    base = next(world.names())
    with world.boss() as boss:
        cell = Cell(world, proof, transport, version, base, boss)
        try:
            yield cell
        finally:
            if cell.client is not None:
                cell.client.close()
