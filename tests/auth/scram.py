"""The client's side of SCRAM-SHA-256, written from RFC 5802 and RFC 7677 with the standard library.

It knows nothing of the broker's own code, so that the two can disagree.
"""

import base64
import hashlib
import hmac
import secrets

from tests.raw_mqtt import V5, Kind, Packet, RawPeer, properties

METHOD = "SCRAM-SHA-256"
CONTINUE, AGAIN = 0x18, 0x19


def verifier(password: str, salt: bytes = b"a salt, 16 bytes", iterations: int = 4_096) -> str:
    """What a config file has for a password."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    stored = hashlib.sha256(_mac(salted, b"Client Key")).digest()
    keys = f"{_text(stored)}:{_text(_mac(salted, b'Server Key'))}"
    return f"{METHOD}${iterations}:{_text(salt)}${keys}"


def salt_of(stored: str) -> bytes:
    return base64.b64decode(stored.split("$")[1].split(":")[1])


class Exchange:
    """One exchange of a client: what it says first, what it answers, whom it trusts."""

    def __init__(self, user: str, password: str) -> None:
        self.password = password
        escaped = user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={escaped},r={secrets.token_urlsafe(12)}"
        self._signature = b""

    @property
    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def last(self, challenge: bytes) -> bytes:
        """The proof, for the broker's challenge."""
        nonce, salt, iterations = (part[2:] for part in challenge.decode().split(","))
        assert nonce.startswith(self._bare.split("r=")[1])
        salted = hashlib.pbkdf2_hmac(
            "sha256", self.password.encode(), base64.b64decode(salt), int(iterations)
        )
        unproved = f"c=biws,r={nonce}"
        said = f"{self._bare},{challenge.decode()},{unproved}".encode()
        self._signature = _mac(_mac(salted, b"Server Key"), said)
        key = _mac(salted, b"Client Key")
        signature = _mac(hashlib.sha256(key).digest(), said)
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        return f"{unproved},p={_text(proof)}".encode()

    def trusts(self, answer: bytes) -> bool:
        """Whether the broker has proved that it knows the user."""
        return answer == b"v=" + _text(self._signature).encode()


def begin(peer: RawPeer, exchange: Exchange, client_id: str = "", **options: object) -> Packet:
    """CONNECT with the first message; what the broker answers."""
    first = properties(auth_method=METHOD, auth_data=exchange.first)
    return peer.connect(client_id, properties=first, **options)


def go_on(peer: RawPeer, reason: int, data: bytes, method: str = METHOD) -> Packet:
    """AUTH; what the broker answers."""
    peer.send(V5.auth(reason, properties(auth_method=method, auth_data=data)))
    return peer.packet()


def data(packet: Packet) -> bytes:
    """What the broker has to say in an exchange."""
    assert packet.properties["auth_method"] == (METHOD,)
    (found,) = packet.properties["auth_data"]
    assert isinstance(found, bytes)
    return found


def let_in(peer: RawPeer, user: str, password: str, client_id: str = "", **options: object) -> None:
    """A whole exchange that succeeds, on both sides."""
    exchange = Exchange(user, password)
    challenge = begin(peer, exchange, client_id, **options)
    assert (challenge.kind, challenge.reason) == (Kind.AUTH, CONTINUE)
    answer = go_on(peer, CONTINUE, exchange.last(data(challenge)))
    assert (answer.kind, answer.reason) == (Kind.CONNACK, 0)
    assert exchange.trusts(data(answer))


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
