"""The ways to prove who one is, as a table: a new kind of proof is one more entry of `PROOFS`.

An entry says whom a rule names, on which transports it can be given, and how a client gives it.
"""

import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.auth.jwt_signer import ISSUER, Signer, claims, jwks
from tests.auth.scram import CONTINUE, METHOD, Exchange, data, go_on, verifier
from tests.hostile.transports import (
    TRANSPORTS,
    TRUSTING,
    StreamPeer,
    TlsStream,
    Transport,
    WebSocketStream,
    connected,
)
from tests.raw_mqtt import Kind, Packet, RawPeer, Version, properties
from tests.running_broker import RunningBroker

TOKENS = "OAUTH2-JWT"
TOKEN_FILE, KEYS_FILE = "token.jwt", "keys.json"
ISSUERS = f"""
[[issuer]]
name = "company"
issuer = "{ISSUER}"
keys = "{{folder}}/{KEYS_FILE}"
audience = ["bus"]
roles_claim = "roles"
"""
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
    if way.transport.name == SECURE_WEB.name:
        return sent(over_secure_web(way.broker, way.version, context), client_id, options)
    stream = TlsStream(context.wrap_socket(connected(way.broker, "tls")))
    return sent(StreamPeer(stream, way.version), client_id, options)


def over_secure_web(
    broker: RunningBroker, version: Version, context: ssl.SSLContext = TRUSTING
) -> RawPeer:
    """MQTT in WebSocket in TLS."""
    secure = TlsStream(context.wrap_socket(connected(broker, SECURE_WEB.name)))
    stream = WebSocketStream(secure)  # type: ignore[arg-type]
    head = stream.greet(broker.further[SECURE_WEB.name])
    assert head.startswith(b"HTTP/1.1 101 "), head
    return StreamPeer(stream, version)


SECURE_WEB = Transport("secure-web", over_secure_web, crowd=200, connection_bytes=80 * 1024)


def by_token(way: Way, client_id: str, options: dict[str, Any]) -> RawPeer:
    """A token as the password. MQTT 3.1.1 needs a user name beside it, which may be empty."""
    named = {"username": "", "password": token_of(way)}
    return sent(way.transport.dial(way.broker, way.version), client_id, named | options)


def by_token_exchange(way: Way, client_id: str, options: dict[str, Any]) -> RawPeer:
    if way.version.level != 5:
        return by_token(way, client_id, options)
    peer = way.transport.dial(way.broker, way.version)
    given = properties(auth_method=TOKENS, auth_data=token_of(way))
    return sent(peer, client_id, options | {"properties": options.get("properties", b"") + given})


def token_of(way: Way) -> bytes:
    return (way.folder / TOKEN_FILE).read_bytes()


def make_token(folder: Path) -> Signer:
    """A token with a role and a claim, and the keys of its issuer."""
    signer = Signer(folder, "ES256", "one")
    (folder / KEYS_FILE).write_text(jwks(signer))
    more: dict[str, Any] = {"site": "north", "roles": ["sender"]}
    (folder / TOKEN_FILE).write_bytes(signer.token(claims("carrier", lasts_s=86_400, **more)))
    return signer


EVERYWHERE = (*TRANSPORTS, SECURE_WEB)
WITH_TLS = tuple(one for one in EVERYWHERE if one.name in {"tls", "secure-web"})
PROOFS = (
    Proof("password", "user:pass", EVERYWHERE, by_password),
    Proof("scram", "user:scram", EVERYWHERE, by_exchange),
    Proof("certificate", "user:cert", WITH_TLS, by_certificate),
    Proof("token", "claim:site=north", EVERYWHERE, by_token),
    Proof("token-exchange", "role:sender", EVERYWHERE, by_token_exchange),
    Proof("anonymous", "anyone", EVERYWHERE, by_nothing),
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
