"""Keys of other issuers over HTTP: fetched, rotated, away, slow, hostile; and OIDC discovery."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from slipring.control import load_config
from slipring.errors import ConfigError
from tests.auth.jwt_signer import Signer, claims, jwks
from tests.auth.key_server import KeyServer, key_server
from tests.auth.token_peers import UNPROVED, WRONG, by_auth, by_password, is_in
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker

ISSUER = """
allow_anonymous = true

[[issuer]]
name = "company"
issuer = "{issuer}"
{keys}
cache_s = {cache_s}
timeout_ms = {timeout_ms}
"""

Start = Callable[..., RunningBroker]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[KeyServer]:
    with key_server(tmp_path / "server") as running:
        running.answer('{"keys": []}')
        yield running


@pytest.fixture
def start(tmp_path: Path, server: KeyServer) -> Iterator[Start]:
    """Start a broker that trusts the server's keys."""
    with ExitStack() as stack:

        def begin(cache_s: int = 3_600, timeout_ms: int = 2_000, keys: str = "") -> RunningBroker:
            keys = keys or f'keys = "{server.url}/jwks"'
            file = tmp_path / "broker.toml"
            options = {"cache_s": cache_s, "timeout_ms": timeout_ms, "keys": keys}
            file.write_text(ISSUER.format(issuer=server.url, **options))
            running = RunningBroker.start(
                tmp_path / "data", "--console", "off", "--config", str(file)
            )
            stack.callback(end, running)
            return running

        yield begin


def end(broker: RunningBroker) -> None:
    code, errors = broker.stop()
    assert code == 0, errors
    assert "Traceback" not in errors, errors


@pytest.fixture
def signers(tmp_path: Path) -> tuple[Signer, Signer]:
    return Signer(tmp_path, "RS256", "one"), Signer(tmp_path, "ES256", "two")


def test_keys_are_fetched_and_an_unknown_key_makes_the_client_wait_for_new_ones(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer]
) -> None:
    one, two = signers
    server.answer(jwks(one))
    broker = start()
    with by_password(broker, one.token(claims(iss=server.url))) as peer:
        assert is_in(peer)
        server.answer(jwks(one, two))
        with by_auth(broker, two.token(claims(iss=server.url))) as other:
            assert is_in(other)
        assert peer.quiet()


def test_keys_that_a_server_removes_end_their_connections_when_they_are_fetched_again(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer]
) -> None:
    one, two = signers
    server.answer(jwks(one))
    broker = start(cache_s=1)
    with by_password(broker, one.token(claims(iss=server.url))) as peer:
        assert is_in(peer)
        server.answer(jwks(two))
        assert peer.packet().reason == UNPROVED
        assert peer.closed()


def test_while_the_server_is_away_the_keys_stay_in_use(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer]
) -> None:
    one, two = signers
    server.answer(jwks(one))
    broker = start(cache_s=1)
    with by_password(broker, one.token(claims(iss=server.url))) as peer:
        assert is_in(peer)
        server.stop()
        with by_password(broker, two.token(claims(iss=server.url))) as other:
            assert other.packet().reason == WRONG  # asked in vain
        with by_password(broker, one.token(claims(iss=server.url))) as other:
            assert is_in(other)
        assert peer.quiet()


@pytest.mark.parametrize("kind", ["huge", "html", "redirect", "slow", "error"])
def test_a_server_that_misbehaves_gives_no_keys_and_costs_nothing(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer], kind: str
) -> None:
    one, two = signers
    server.answer(jwks(one))
    broker = start(timeout_ms=500)
    with by_password(broker, one.token(claims(iss=server.url))) as peer:
        assert is_in(peer)
        bodies = {"redirect": f"{server.url}/elsewhere", "error": "500"}
        paths = {"/elsewhere": jwks(one, two)}
        server.answer(bodies.get(kind, jwks(one, two)), kind, paths)
        with by_password(broker, two.token(claims(iss=server.url))) as other:
            assert other.packet().reason == WRONG
        assert "/elsewhere" not in [asked["path"] for asked in server.requests]
        server.answer(jwks(one, two))
        with by_password(broker, one.token(claims(iss=server.url))) as other:
            assert is_in(other)
        assert peer.quiet()


def test_others_connect_and_publish_while_one_waits_for_a_slow_server(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer]
) -> None:
    one, two = signers
    server.answer(jwks(one))
    broker = start(timeout_ms=60_000)
    with by_password(broker, one.token(claims(iss=server.url))) as known:
        assert is_in(known)
        server.answer(jwks(one, two), "gate")
        waiting = by_password(broker, two.token(claims(iss=server.url)))
        with waiting, RawPeer(broker.host, broker.port) as anonymous:
            assert anonymous.connect().reason == 0
            with by_password(broker, one.token(claims(iss=server.url))) as other:
                assert is_in(other)
            anonymous.send(V5.publish("t", b"1", qos=1, packet_id=1))
            anonymous.packet()
            assert known.quiet()
            (server.folder / "open").touch()
            assert is_in(waiting)


def test_many_unknown_keys_make_few_requests(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer]
) -> None:
    one, two = signers
    server.answer(jwks(one))
    broker = start()
    for number in range(40):
        token = two.token(claims(iss=server.url), {"alg": "ES256", "kid": f"unknown {number}"})
        with by_password(broker, token) as peer:
            assert peer.packet().reason == WRONG
    assert len(server.requests) < 12


def test_discovery_finds_the_keys_and_trusts_only_its_own_issuer(
    start: Start, server: KeyServer, signers: tuple[Signer, Signer]
) -> None:
    one, two = signers
    document = {"issuer": server.url, "jwks_uri": f"{server.url}/certs"}
    paths = {"/.well-known/openid-configuration": json.dumps(document), "/certs": jwks(one)}
    server.answer(paths=paths)
    broker = start(keys="discovery = true")
    with by_password(broker, one.token(claims(iss=server.url))) as peer:
        assert is_in(peer)
        for lie in ({"issuer": "https://evil.example"}, {"jwks_uri": "http://192.0.2.1/keys"}):
            paths["/.well-known/openid-configuration"] = json.dumps(document | lie)
            paths["/certs"] = jwks(one, two)
            server.answer(paths=paths)
            with by_password(broker, two.token(claims(iss=server.url))) as other:
                assert other.packet().reason == WRONG
        assert peer.quiet()


@pytest.mark.parametrize(
    "keys",
    [
        'keys = "http://192.0.2.1/jwks"',
        'keys = "http://localhost.example/jwks"',
        'keys = "ftp://127.0.0.1/jwks"',
        'keys = "https://user:word@id.example/jwks"',
        'discovery = true\nkeys = "jwks.json"',
        "",
    ],
)
def test_an_unverified_key_server_is_refused_in_the_config_cve_2026_67404(
    tmp_path: Path, keys: str
) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(f'[[issuer]]\nname = "a"\nissuer = "http://192.0.2.1"\n{keys}\n')
    with pytest.raises(ConfigError, match="issuer"):
        load_config(file)
