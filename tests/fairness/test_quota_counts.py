"""What quotas count is what is there, whatever happens to sessions (T13)."""

import random
import time
from contextlib import closing

import pytest

from tests.configured_broker import Configured, ConfiguredBroker, configured
from tests.fairness.test_quotas import NOBODY, QUOTA, proven, users
from tests.limited_broker import KEPT, retain
from tests.raw_mqtt import PINGREQ, V5, Kind, RawPeer

__all__ = ["configured"]

CONNECTIONS, SUBSCRIPTIONS, STORED = 4, 12, 20_000
FILE = f"""{users("anna", "berta")}
[[quota]]
who = ["user:anna"]
connections = {CONNECTIONS}
subscriptions = {SUBSCRIPTIONS}
stored_bytes = {STORED}
"""
STEPS = 150
CLIENTS = 5
"""More than may be connected at once."""
FILTERS = 6


class Life:
    """Clients of one user that come, take over, subscribe and go as chance has it."""

    def __init__(self, broker: ConfiguredBroker, seed: int) -> None:
        self.broker = broker
        self.chance = random.Random(seed)
        self.peers: dict[str, RawPeer] = {}
        self.made: list[RawPeer] = []

    def close(self) -> None:
        """Leave no socket behind."""
        for peer in self.made:
            peer.close()

    def connect(self, client_id: str, **options: object) -> RawPeer | None:
        """A connection, if there is room; it takes over one of the same client."""
        made = RawPeer(self.broker.running.host, self.broker.running.port)
        self.made.append(made)
        reason = made.connect(client_id, **proven("anna"), **options).reason
        if client_id in self.peers:
            assert reason == 0, "its own place"
            self.peers.pop(client_id).close()
        elif reason:
            # Connections that were cut may still be there for a moment; never too few are.
            assert reason == QUOTA
            made.close()
            return None
        self.peers[client_id] = made
        return made

    def step(self) -> None:
        """One thing that a client does."""
        client_id = f"anna-{self.chance.randrange(CLIENTS)}"
        act = self.chance.randrange(8)
        if act < 3:
            kept = KEPT if self.chance.random() < 0.7 else b""
            clean = self.chance.random() < 0.3
            self.connect(client_id, clean=clean, properties=kept)
        elif (peer := self.peers.get(client_id)) is None:
            return
        elif act < 5:
            wanted = self.chance.sample(range(FILTERS), 3)
            peer.send(V5.subscribe(1, *(f"f/{one}" for one in wanted)))
            peer.until(Kind.SUBACK)
        elif act == 5:
            peer.send(V5.unsubscribe(2, f"f/{self.chance.randrange(FILTERS)}"))
            peer.until(Kind.UNSUBACK)
        elif act == 6:
            length = self.chance.choice([0, 100, 3_000])
            retain(peer, f"r/{self.chance.randrange(10)}", bytes(length))
        else:
            if self.chance.random() < 0.5:
                peer.send(V5.disconnect())
            self.peers.pop(client_id).close()

    def end(self) -> None:
        """Every session ends, and no message is retained."""
        while self.peers:
            self.peers.popitem()[1].close()
        for number in range(CLIENTS):
            peer = self._entered(f"anna-{number}")
            for topic in range(10):
                assert retain(peer, f"r/{topic}", b"") < 0x80
            peer.send(V5.disconnect())
            assert peer.closed()
            self.peers.clear()

    def _entered(self, client_id: str) -> RawPeer:
        """A connection that begins anew; earlier ones may need a moment to be gone."""
        until_s = time.monotonic() + 60
        while (peer := self.connect(client_id, clean=True)) is None:
            assert time.monotonic() < until_s, "places of connections are lost"
        return peer

    def check_nothing_is_held(self) -> None:
        """All of each quota is there again, and no more."""
        peers = [self._entered(f"new-{number}") for number in range(CONNECTIONS)]
        assert self.connect("one-more") is None
        peers[0].send(V5.subscribe(1, *(f"n/{one}" for one in range(SUBSCRIPTIONS + 1))))
        (answer,) = [one for one in peers[0].until(Kind.SUBACK) if one.kind == Kind.SUBACK]
        assert answer.reasons == (*(0,) * SUBSCRIPTIONS, QUOTA)
        assert retain(peers[1], "n/r", bytes(STORED - 1_000)) == NOBODY
        assert retain(peers[1], "n/s", bytes(1_000)) == QUOTA
        assert retain(peers[1], "n/r", b"") == NOBODY


@pytest.mark.parametrize("seed", range(3))
def test_what_is_counted_is_what_is_there_after_any_life_of_sessions(
    configured: Configured, seed: int
) -> None:
    with closing(Life(configured(FILE), seed)) as life:
        for _ in range(STEPS):
            life.step()
        life.end()
        life.check_nothing_is_held()


def test_what_is_counted_is_what_is_there_after_a_kill(configured: Configured) -> None:
    broker = configured(FILE)
    with closing(Life(broker, 7)) as life:
        for _ in range(STEPS):
            life.step()
        broker.running.process.kill()
        broker.running.process.wait(60)
    with closing(Life(configured(FILE), 8)) as life:
        for _ in range(STEPS):
            life.step()
        life.end()
        life.check_nothing_is_held()


def test_who_connects_again_for_each_burst_is_slowed_down_all_the_same(
    configured: Configured,
) -> None:
    """Five bursts of 50 at 50 a second take four seconds, by however many connections."""
    broker = configured(f"{users('anna')}\n[[quota]]\nwho = ['user:anna']\nmessages_per_s = 50\n")
    begun_s = time.monotonic()
    for number in range(5):
        with broker.peer(f"anna-{number}", **proven("anna")) as peer:
            peer.send(*(V5.publish("t", b"x") for _ in range(50)), PINGREQ)
            peer.until(Kind.PINGRESP)
    assert time.monotonic() - begun_s >= 3
