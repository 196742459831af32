"""What the console believes of an identity provider: only what its keys signed for this login."""

import json
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from slipring.console.oidc import FLOW_S, FLOWS_OF_NETWORK_MAX, OidcClient, OidcError
from slipring.control.oidc import OidcSection
from slipring.native import make_token_key, public_token_key, sign_token
from tests.console.test_attempts import Clock

ISSUER = "https://id.example"
KEY, OTHER_KEY = make_token_key(bytes(32)), make_token_key(bytes([1] * 32))


class Provider(OidcClient):
    """Answers as a test wants, without a network."""

    def __init__(self, clock: Clock | None = None, **metadata: object) -> None:
        section = OidcSection(issuer=ISSUER, client_id="slipring")
        super().__init__(section, clock or Clock())
        self.metadata: dict[str, object] = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/ask?tenant=1",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
        } | metadata
        self.answer: dict[str, object] = {}
        self.redeemed: list[dict[str, str]] = []

    def _ask(self, url: str, form: dict[str, str] | None = None) -> dict[str, Any]:
        if form is not None:
            self.redeemed.append(form)
            return self.answer
        if url.endswith("/keys"):
            return {"keys": [json.loads(public_token_key(KEY)[1])]}
        return self.metadata

    def begun(self, network: str = "10.0.0.1") -> dict[str, str]:
        """What the browser is sent to the provider with."""
        address, state = self.begin("https://console.example/api/oidc/callback", network)
        asked = {key: one[0] for key, one in parse_qs(urlsplit(address).query).items()}
        assert asked["tenant"] == "1"
        assert asked["state"] == state
        return asked


def id_token(nonce: str, key: str = KEY, **more: object) -> str:
    now_s = int(time.time())
    times = {"iat": now_s, "exp": now_s + 60}
    names = {"iss": ISSUER, "aud": "slipring", "sub": "olga", "roles": ["viewer"]}
    told = names | times | {"nonce": nonce} | more
    return sign_token(key, json.dumps({name: one for name, one in told.items() if one is not None}))


def test_who_the_provider_names_is_let_in_once() -> None:
    provider = Provider()
    asked = provider.begun()
    provider.answer = {"id_token": id_token(asked["nonce"], azp="slipring")}
    person = provider.finish(asked["state"], "code")
    assert (person.user, person.roles) == ("olga", ("viewer",))
    assert "nonce" not in dict(person.claims)
    assert provider.redeemed[0]["code_verifier"]
    with pytest.raises(OidcError, match="not begun here"):
        provider.finish(asked["state"], "code")
    assert len(provider.redeemed) == 1, "the code is not sent twice"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"nonce": "of another login"}, "another login"),
        ({"nonce": None}, "another login"),
        ({"nonce": ["a", "b"]}, "another login"),
        ({"azp": "another"}, "another client"),
        ({"aud": "another"}, "refused"),
        ({"aud": None}, "refused"),
        ({"iss": "https://evil.example"}, "refused"),
        ({"exp": 1}, "refused"),
        ({"exp": None}, "refused"),
        ({"nbf": 1 << 40}, "refused"),
        ({"sub": None}, "refused"),
        ({"key": OTHER_KEY}, "refused"),
    ],
)
def test_a_token_that_is_not_for_this_login_is_refused(changes: dict[str, Any], why: str) -> None:
    provider = Provider()
    asked = provider.begun()
    provider.answer = {"id_token": id_token(**({"nonce": asked["nonce"]} | changes))}
    with pytest.raises(OidcError, match=why):
        provider.finish(asked["state"], "code")


@pytest.mark.parametrize("answer", [{}, {"id_token": 1}, {"id_token": ""}, {"id_token": "a.b.c"}])
def test_an_answer_without_such_a_token_is_refused(answer: dict[str, object]) -> None:
    provider = Provider()
    provider.answer = answer
    with pytest.raises(OidcError):
        provider.finish(provider.begun()["state"], "code")


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"issuer": f"{ISSUER}/"},
        {"authorization_endpoint": "http://id.example/ask"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "http://id.example/token"},
        {"token_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": 7},
    ],
)
def test_a_provider_that_names_another_one_or_an_open_way_is_refused(
    metadata: dict[str, object],
) -> None:
    with pytest.raises(OidcError):
        Provider(None, **metadata).begun()


def test_a_login_that_took_too_long_is_refused() -> None:
    clock = Clock()
    provider = Provider(clock)
    asked = provider.begun()
    provider.answer = {"id_token": id_token(asked["nonce"])}
    clock.now_s += FLOW_S + 1
    with pytest.raises(OidcError, match="took too long"):
        provider.finish(asked["state"], "code")
    assert not provider.redeemed


def test_who_begins_many_logins_pushes_out_only_their_own() -> None:
    provider = Provider()
    mine = provider.begun("10.0.0.1")
    theirs = [provider.begun("10.0.0.2") for _ in range(FLOWS_OF_NETWORK_MAX + 1)]
    provider.answer = {"id_token": id_token(mine["nonce"])}
    assert provider.finish(mine["state"], "code").user == "olga"
    with pytest.raises(OidcError, match="not begun here"):
        provider.finish(theirs[0]["state"], "code")
