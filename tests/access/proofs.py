"""The ways to prove who one is, as a table: a new kind of proof is one more entry of `PROOFS`.

An entry says whom a rule names, on which transports it can be given, and how a client gives it.
"""

import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.auth.scram import CONTINUE, METHOD, Exchange, data, go_on, verifier
from tests.hostile.transports import TRANSPORTS, StreamPeer, TlsStream, Transport, connected
from tests.raw_mqtt import Kind, Packet, RawPeer, Version, properties
from tests.running_broker import RunningBroker

PASSWORDS = {"boss": "everything", "pass": "eraser", "scram": "pencil"}
USERS = "".join(
    f"[[user]]\nname = '{name}'\npassword = '{verifier(password)}'\n"
    for name, password in PASSWORDS.items()
)
"""The users of a config file. `boss` is the other side of each test."""


@dataclass(frozen=True)
class Way:
    """How a client reaches a broker; the folder has the certificates."""

    broker: RunningBroker
    transport: Transport
    folder: Path
    version: Version


Connect = Callable[[Way, str, dict[str, Any]], RawPeer]


@dataclass(frozen=True)
class Proof:
    """A kind of proof. `give` connects a client; the peer holds the broker's answer."""

    name: str
    who: str
    transports: tuple[Transport, ...]
    give: Connect


def sent(peer: RawPeer, client_id: str, options: dict[str, Any]) -> RawPeer:
    peer.send(peer.version.connect(client_id, **options))
    return peer


def by_nothing(way: Way, client_id: str, options: dict[str, Any]) -> RawPeer:
    return sent(way.transport.dial(way.broker, way.version), client_id, options)


def by_password(way: Way, client_id: str, options: dict[str, Any]) -> RawPeer:
    named = {"username": "pass", "password": PASSWORDS["pass"].encode()}
    return sent(way.transport.dial(way.broker, way.version), client_id, named | options)


def by_exchange(way: Way, client_id: str, options: dict[str, Any]) -> RawPeer:
    if way.version.level != 5:  # MQTT 3.1.1 has no exchange: the same user, by the password
        named = {"username": "scram", "password": PASSWORDS["scram"].encode()}
        return by_nothing(way, client_id, named | options)
    peer = way.transport.dial(way.broker, way.version)
    exchange = Exchange("scram", PASSWORDS["scram"])
    asked = properties(auth_method=METHOD, auth_data=exchange.first)
    given = options | {"properties": options.get("properties", b"") + asked}
    challenge = sent(peer, client_id, given).packet()
    assert challenge.kind is Kind.AUTH, challenge
    peer._set_aside.append(go_on(peer, CONTINUE, exchange.last(data(challenge))))
    return peer


def by_certificate(
    way: Way, client_id: str, options: dict[str, Any], file: str = "cert"
) -> RawPeer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(way.folder / f"{file}.pem", way.folder / f"{file}.key")
    stream = TlsStream(context.wrap_socket(connected(way.broker, "tls")))
    return sent(StreamPeer(stream, way.version), client_id, options)


TLS_ONLY = tuple(one for one in TRANSPORTS if one.name == "tls")
PROOFS = (
    Proof("password", "user:pass", TRANSPORTS, by_password),
    Proof("scram", "user:scram", TRANSPORTS, by_exchange),
    Proof("certificate", "user:cert", TLS_ONLY, by_certificate),
    Proof("anonymous", "anyone", TRANSPORTS, by_nothing),
)


def make_client_certificate(folder: Path, name: str = "cert", *, file: str = "cert") -> None:
    """An authority, and a certificate of a client with this common name that it has signed."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    if not (folder / "ca.pem").exists():
        openssl(
            "req", "-x509", *curve, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"
        )
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"]
    made = ["-keyout", f"{file}.key", "-out", f"{file}.pem"]
    openssl("req", "-x509", *curve, "-subj", f"/CN={name}", *signed, *made)


def connack(peer: RawPeer) -> Packet:
    """The broker's answer to a CONNECT."""
    answer = peer.packet()
    assert answer.kind is Kind.CONNACK, answer
    return answer
