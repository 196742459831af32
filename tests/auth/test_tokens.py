"""Tokens over a socket: who is let in by one, as whom, and every attack that is refused."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.auth.jwt_signer import ISSUER, Signer, claims, jwks, text
from tests.auth.scram import verifier
from tests.auth.token_peers import UNPROVED, WAYS, WRONG, Way, by_auth, by_password, is_in
from tests.raw_mqtt import V5, Kind, RawPeer, properties
from tests.running_broker import RunningBroker, broker_in

CONFIG = """
[[user]]
name = "anna"
password = "{verifier}"

[[issuer]]
name = "company"
issuer = "{issuer}"
keys = "{folder}/jwks.json"
audience = ["bus"]
leeway_s = 0

[[access.rule]]
who = ["role:engineer"]
allow = ["publish", "subscribe"]
topics = ["engine/#"]

[[access.rule]]
who = ["claim:site=linkoping"]
allow = ["subscribe"]
topics = ["site/%{{site}}/#"]
"""


@dataclass
class Trusting:
    """A broker that trusts an issuer, and the issuer's keys."""

    broker: RunningBroker
    signers: dict[str, Signer]

    def token(self, *, algorithm: str = "EdDSA", **changed: Any) -> bytes:
        return self.signers[algorithm].token(claims(**changed))


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusting]:
    folder = tmp_path_factory.mktemp("trusting")
    signers = {name: Signer(folder, name, f"key-{name}") for name in ("EdDSA", "ES256", "RS256")}
    (folder / "jwks.json").write_text(jwks(*signers.values()))
    config = CONFIG.format(folder=folder, issuer=ISSUER, verifier=verifier("pencil"))
    with broker_in(folder, "--console", "off", config=config) as broker:
        yield Trusting(broker, signers)


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
@pytest.mark.parametrize(("way", "_"), WAYS)
def test_a_token_of_each_algorithm_lets_in_by_each_way(
    trusting: Trusting, way: Way, _: int, algorithm: str
) -> None:
    with way(trusting.broker, trusting.token(algorithm=algorithm)) as peer:
        assert is_in(peer)
        assert peer.quiet()


@pytest.mark.parametrize(("way", "refused"), WAYS)
def test_a_user_name_that_is_given_must_be_the_tokens(
    trusting: Trusting, way: Way, refused: int
) -> None:
    with way(trusting.broker, trusting.token(), user="anna") as peer:
        assert is_in(peer)
    with way(trusting.broker, trusting.token(), user="ben") as peer:
        assert peer.packet().reason == refused
        assert peer.closed()


def test_the_method_is_named_in_connack_and_passwords_still_work(trusting: Trusting) -> None:
    with by_auth(trusting.broker, trusting.token()) as peer:
        answer = peer.packet()
        assert answer.reason == 0
        assert answer.properties["auth_method"] == ("OAUTH2-JWT",)  # MQTT-4.12.0-5
    with by_password(trusting.broker, b"pencil", user="anna") as peer:
        assert is_in(peer)
    with by_password(trusting.broker, b"eraser", user="anna") as peer:
        assert peer.packet().reason == WRONG
    with RawPeer(trusting.broker.host, trusting.broker.port) as peer:
        assert peer.connect().reason == UNPROVED


def test_roles_and_claims_of_a_token_give_rights(trusting: Trusting) -> None:
    with by_password(trusting.broker, trusting.token(roles=["engineer"], site="linkoping")) as peer:
        assert is_in(peer)
        peer.send(V5.subscribe(1, "engine/rpm", "site/linkoping/#", "site/other/#", "#"))
        assert peer.packet().reasons == (0, 0, 0x87, 0x87)
    with by_password(trusting.broker, trusting.token(site=["linkoping", "#"])) as peer:
        assert is_in(peer)
        peer.send(V5.subscribe(1, "engine/rpm", "site/linkoping/#", "site/#"))
        assert peer.packet().reasons == (0x87, 0x87, 0x87)  # which of the two is not certain


def test_a_session_belongs_to_the_tokens_user(trusting: Trusting) -> None:
    expiry = properties(session_expiry=60)
    for user, reason in [("anna", 0), ("ben", 0x87), ("anna", 0)]:
        with RawPeer(trusting.broker.host, trusting.broker.port) as peer:
            token = trusting.token(user=user)
            answer = peer.connect("kept", password=token, clean=False, properties=expiry)
            assert answer.reason == reason
            peer.send(V5.disconnect())
            assert peer.closed()


def headed(signer: Signer, **header: object) -> bytes:
    """A good token with another header."""
    return signer.token(claims(), {"alg": signer.algorithm, "kid": signer.kid} | header)


def unsigned(**header: object) -> bytes:
    parts = [text(json.dumps(part).encode()) for part in (header, claims())]
    return f"{'.'.join(parts)}.".encode()


def by_secret(signer: Signer, secret: bytes) -> bytes:
    signed = unsigned(alg="HS256", kid=signer.kid).rstrip(b".")
    return signed + b"." + text(hmac.new(secret, signed, hashlib.sha256).digest()).encode()


LONG = "a" * 2_000


def attacks_by_header(ed: Signer, ec: Signer, rsa: Signer) -> dict[str, bytes]:
    return {
        "alg none": unsigned(alg="none"),
        "alg None with kid": unsigned(alg="None", kid=ed.kid),
        "HS256 with the RSA key as the secret": by_secret(rsa, rsa.jwk["n"].encode()),
        "HS256 with the JWK as the secret": by_secret(rsa, json.dumps(rsa.jwk).encode()),
        "ES256 by an RSA key": headed(rsa, alg="ES256"),
        "RS256 by an EC key": headed(ec, alg="RS256"),
        "EdDSA by an EC key": headed(ec, alg="EdDSA"),
        "RS512": headed(rsa, alg="RS512"),
        "kid is a path": headed(ed, kid="../../../../dev/null"),
        "kid is SQL": headed(ed, kid="x' UNION SELECT 'key"),
        "kid is a command": headed(ed, kid="|/bin/true"),
        "kid is an address": headed(ed, kid="https://evil.example/jwks.json"),
        "kid is a number": headed(ed, kid=1),
        "kid is long": headed(ed, kid=LONG),
        "the key of the token itself": headed(ed, kid="own", jwk=ed.jwk),
        "jku": headed(ed, kid="own", jku="http://127.0.0.1:1/"),
        "x5u": headed(ed, kid="own", x5u="http://127.0.0.1:1/"),
        "crit": headed(ed, crit=["b64"], b64=False),
        "typ of another use": headed(ed, typ="secevent+jwt"),
    }


def attacks_by_claim(signer: Signer) -> dict[str, bytes]:
    rows: dict[str, dict[str, Any]] = {
        "ended": {"lasts_s": -1},
        "no end": {"exp": None},
        "an end that is a text": {"exp": "9999999999"},
        "an end that is true": {"exp": True},
        "not yet valid": {"nbf": 9_999_999_999},
        "made in the future": {"iat": 9_999_999_999},
        "another issuer": {"iss": ISSUER + "/"},
        "no issuer": {"iss": None},
        "another audience": {"aud": "other"},
        "no audience": {"aud": None},
        "an audience that is an object": {"aud": {"bus": True}},
        "no user": {"sub": None},
        "a user that is a list": {"sub": ["anna"]},
        "a user with a line break": {"sub": "anna\nadmin"},
        "huge claims": {"note": LONG},
        "many roles": {"roles": [f"role {number}" for number in range(100)]},
        "roles that are a number": {"roles": 1},
        "longer than 8 KiB": {"note": ["x" * 100] * 90},
    }
    return {name: signer.token(claims(**changed)) for name, changed in rows.items()}


def attacks_by_form(signer: Signer) -> dict[str, bytes]:
    valid = signer.token(claims())
    signed, _, signature = valid.rpartition(b".")
    twice = json.dumps(claims()).replace("{", '{"sub": "admin", ', 1)
    body = valid.split(b".")[0] + b"." + text(twice.encode()).encode()
    return {
        "a user twice": body + b"." + text(signer.sign(body)).encode(),
        "a padded signature": valid + b"==",
        "another encoding of the signature": valid[:-1] + (b"B" if valid[-1:] != b"B" else b"C"),
        "data behind it": valid + b".x",
        "another user with the same signature": signed[:-4] + b"AAAA." + signature,
        "a forged signature": signed + b"." + text(bytes(64)).encode(),
    }


@pytest.mark.parametrize(("way", "refused"), WAYS)
def test_every_attack_is_refused_by_every_way(trusting: Trusting, way: Way, refused: int) -> None:
    ed, ec, rsa = (trusting.signers[name] for name in ("EdDSA", "ES256", "RS256"))
    rows = attacks_by_header(ed, ec, rsa) | attacks_by_claim(ed) | attacks_by_form(ed)
    for name, token in rows.items():
        with way(trusting.broker, token) as peer:
            answer = peer.packet()
            assert (answer.kind, answer.reason) == (Kind.CONNACK, refused), name
            assert peer.closed(), name
    with way(trusting.broker, trusting.token()) as peer:
        assert is_in(peer)
