"""Clients that bring tokens, in each way that a client can."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.raw_mqtt import V5, V311, Kind, Packet, RawPeer, properties
from tests.running_broker import PATIENCE_S, RunningBroker

METHOD = "OAUTH2-JWT"
AGAIN = 0x19
WRONG, UNPROVED, AWAY, ENDED = 0x86, 0x87, 0x88, 0xA0


def by_password(broker: RunningBroker, token: bytes, user: str | None = None) -> RawPeer:
    """MQTT 5, the token as the password."""
    peer = RawPeer(broker.host, broker.port, V5)
    peer.send(V5.connect("", username=user, password=token))
    return peer


def by_old_password(broker: RunningBroker, token: bytes, user: str | None = "") -> RawPeer:
    """MQTT 3.1.1, where a password needs a user name; an empty one says nothing."""
    peer = RawPeer(broker.host, broker.port, V311)
    peer.send(V311.connect("", username=user or "", password=token))
    return peer


def by_auth(broker: RunningBroker, token: bytes, user: str | None = None) -> RawPeer:
    """MQTT 5, the token as authentication data."""
    peer = RawPeer(broker.host, broker.port, V5)
    method = properties(auth_method=METHOD, auth_data=token)
    peer.send(V5.connect("", username=user, properties=method))
    return peer


Way = Callable[..., RawPeer]
WAYS: list[tuple[Way, int]] = [(by_password, WRONG), (by_old_password, 4), (by_auth, UNPROVED)]
"""Each way, and the reason by which a token is refused there."""


def prove_again(peer: RawPeer, token: bytes) -> Packet:
    """AUTH 0x19 with another token; what the broker answers."""
    peer.send(V5.auth(AGAIN, properties(auth_method=METHOD, auth_data=token)))
    return peer.packet()


def is_in(peer: RawPeer) -> bool:
    """Whether the broker lets the client in."""
    answer = peer.packet()
    assert answer.kind is Kind.CONNACK
    return answer.reason == 0


def ends_with(peer: RawPeer, reason: int) -> bool:
    """Whether the broker says DISCONNECT with this reason, and closes."""
    packet = peer.packet()
    return (packet.kind, packet.reason) == (Kind.DISCONNECT, reason) and peer.closed()


def command(config: Path, data: Path, *arguments: str, given: bytes = b"") -> str:
    """What `slipring token ...` prints; it must succeed."""
    done = run_command(config, data, *arguments, given=given)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def run_command(
    config: Path, data: Path, *arguments: str, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """`slipring token ...` for this broker."""
    line = [sys.executable, "-m", "slipring", "token", *arguments]
    line += ["--config", str(config), "--data", str(data)]
    return subprocess.run(line, input=given, capture_output=True, timeout=PATIENCE_S, check=False)


def token_id(config: Path, data: Path, token: bytes) -> str:
    """The identifier of a token, as `slipring token show` prints it."""
    shown = run_command(config, data, "show", given=token).stdout.decode()
    (decoded, _) = json.JSONDecoder().raw_decode(shown)
    found: str = decoded["claims"]["jti"]
    return found
