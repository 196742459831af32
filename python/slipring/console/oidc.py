"""The console as a client of an identity provider: OpenID Connect's authorization code with PKCE.

It asks the provider on a thread, bounded in time and size, and trusts a person only by an id token
that the provider's keys have signed for this console.
"""

import base64
import json
import secrets
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode

from slipring.console.logins import Person
from slipring.control.oidc import OidcSection
from slipring.control.token_sections import is_trusted_address
from slipring.errors import SecretError, TokenError
from slipring.native import TokenRules, read_secret_file

BYTES_MAX = 256 * 1024
METADATA_S = 300.0
"""How long addresses and keys of the provider are kept; an unknown key reads them again."""
KEYS_AGAIN_S = 10.0
FLOW_S = 600.0
"""How long a person may take at the provider."""
FLOWS_MAX = 1_000
"""Logins that have begun; of one network fewer, so that nobody keeps others out."""
FLOWS_OF_NETWORK_MAX = 100
LEEWAY_S = 30


class OidcError(Exception):
    """A login by the provider that did not succeed, and why."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A login that has begun: what must come back, and what proves that it is ours."""

    nonce: str
    verifier: str
    redirect: str
    network: str
    """Where the browser is."""
    ends_s: float


@dataclass(frozen=True, slots=True)
class _Provider:
    """What the provider says of itself, and its keys."""

    authorization: str
    token: str
    keys: str
    read_s: float


class OidcClient:
    """Begins logins at the provider and takes their results."""

    def __init__(self, section: OidcSection, now_s: Callable[[], float] = time.monotonic) -> None:
        """Ask nothing yet."""
        self.section = section
        self._now_s = now_s
        self._flows: dict[str, Flow] = {}
        self._lock = threading.Lock()
        """Held for a moment: several threads begin and finish logins."""
        self._provider: _Provider | None = None

    def begin(self, redirect: str, network: str) -> tuple[str, str]:
        """Begin a login: the address of the provider for the browser, and the state. Blocks."""
        provider = self._known()
        state, flow = secrets.token_urlsafe(32), self._flow(redirect, network)
        with self._lock:
            self._make_room(network)
            self._flows[state] = flow
        challenge = base64.urlsafe_b64encode(sha256(flow.verifier.encode()).digest()).rstrip(b"=")
        asked = {
            "response_type": "code",
            "client_id": self.section.client_id,
            "redirect_uri": redirect,
            "scope": " ".join(self.section.scopes),
            "state": state,
            "nonce": flow.nonce,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in provider.authorization else "?"
        return f"{provider.authorization}{separator}{urlencode(asked)}", state

    def finish(self, state: str, code: str) -> Person:
        """Take what the browser brought back: who it is. Blocks."""
        with self._lock:
            flow = self._flows.pop(state, None)
        if flow is None or self._now_s() > flow.ends_s:
            raise OidcError("this login took too long, or was not begun here")
        answer = self._redeem(code, flow)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise OidcError("the provider's answer has no id_token")
        found = self._verified(token.encode())
        claims = [(str(name), str(value)) for name, value in found["claims"]]
        if [value for name, value in claims if name == "nonce"] != [flow.nonce]:
            raise OidcError("the provider's token is of another login")
        # OpenID Connect Core, 3.1.3.7: one for several audiences names the one that asked for it.
        if any(name == "azp" and value != self.section.client_id for name, value in claims):
            raise OidcError("the provider's token was made for another client")
        kept = tuple((name, value) for name, value in claims if name != "nonce")
        return Person(found["user"], tuple(found["roles"]), kept)

    def _flow(self, redirect: str, network: str) -> Flow:
        nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        return Flow(nonce, verifier, redirect, network, self._now_s() + FLOW_S)

    def _make_room(self, network: str) -> None:
        """Forget late logins; beyond a bound, the oldest one of who has begun most."""
        now_s = self._now_s()
        self._flows = {state: one for state, one in self._flows.items() if now_s <= one.ends_s}
        counts = Counter(one.network for one in self._flows.values())
        if counts[network] < FLOWS_OF_NETWORK_MAX and len(self._flows) < FLOWS_MAX:
            return
        is_own = counts[network] >= FLOWS_OF_NETWORK_MAX
        greedy = network if is_own else counts.most_common(1)[0][0]
        oldest = next(state for state, one in self._flows.items() if one.network == greedy)
        del self._flows[oldest]

    def _redeem(self, code: str, flow: Flow) -> dict[str, Any]:
        """Exchange the code for an id token."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": flow.redirect,
            "code_verifier": flow.verifier,
            "client_id": self.section.client_id,
        }
        return self._ask(self._known().token, form)

    def _verified(self, token: bytes) -> dict[str, Any]:
        provider = self._known()
        try:
            return self._rules(provider).verify(token, int(time.time()))
        except TokenError as error:
            if self._now_s() < provider.read_s + KEYS_AGAIN_S:
                raise OidcError(f"the provider's token is refused: {error}") from None
        try:  # its keys may have changed
            return self._rules(self._read()).verify(token, int(time.time()))
        except TokenError as error:
            raise OidcError(f"the provider's token is refused: {error}") from None

    def _rules(self, provider: _Provider) -> TokenRules:
        issuer = {
            "issuer": self.section.issuer,
            "keys": [provider.keys],
            "audience": [self.section.client_id],
            "user_claim": self.section.user_claim,
            "roles_claim": self.section.roles_claim,
            "leeway_s": LEEWAY_S,
        }
        return TokenRules([issuer], {}, {})

    def _known(self) -> _Provider:
        known = self._provider
        is_fresh = known is not None and self._now_s() < known.read_s + METADATA_S
        return known if known is not None and is_fresh else self._read()

    def _read(self) -> _Provider:
        """OpenID Connect discovery: the provider must call itself what the configuration does."""
        base = self.section.issuer
        told = self._ask(f"{base.rstrip('/')}/.well-known/openid-configuration")
        if told.get("issuer") != base:
            raise OidcError(f"the provider calls itself {told.get('issuer')!r}, not {base!r}")
        keys = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        authorization, token, jwks = (_trusted(told, key) for key in keys)
        found = json.dumps(self._ask(jwks))
        self._provider = _Provider(authorization, token, found, self._now_s())
        return self._provider

    def _ask(self, url: str, form: dict[str, str] | None = None) -> dict[str, Any]:
        """The JSON that an address answers; a form is posted, with the console's secret."""
        body = None if form is None else urlencode(form).encode()
        request = urllib.request.Request(url, data=body, headers={"accept": "application/json"})  # noqa: S310 (checked)
        if form is not None and (secret := self._secret()) is not None:
            pair = f"{quote(self.section.client_id, safe='')}:{quote(secret, safe='')}".encode()
            request.add_header("authorization", f"Basic {base64.b64encode(pair).decode()}")
        try:
            with _opener(self.section).open(
                request, timeout=self.section.timeout_ms / 1_000
            ) as answer:
                text = answer.read(BYTES_MAX + 1)
            told = json.loads(text) if len(text) <= BYTES_MAX else None
        except (OSError, ValueError, RecursionError, urllib.error.URLError) as error:
            raise OidcError(f"the provider did not answer at {url}: {error}") from None
        if not isinstance(told, dict):
            raise OidcError(f"the answer of {url} is no JSON object of at most {BYTES_MAX} bytes")
        return told

    def _secret(self) -> str | None:
        file = self.section.client_secret_file
        if file is None:
            return None
        try:
            return read_secret_file(file).decode().strip()
        except (SecretError, UnicodeDecodeError) as error:
            raise OidcError(f"cannot read console.oidc.client_secret_file: {error}") from None


def _trusted(told: dict[str, Any], key: str) -> str:
    address = told.get(key)
    if not isinstance(address, str) or not is_trusted_address(address):
        raise OidcError(f"the provider's {key} is neither https nor on this machine")
    return address


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could lead to anybody."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _opener(section: OidcSection) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context(cafile=section.ca)
    https = urllib.request.HTTPSHandler(context=context)
    return urllib.request.build_opener(_NoRedirect, https, urllib.request.ProxyHandler({}))
