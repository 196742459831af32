"""Makes tokens of our own."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slipring.control.token_folder import TokenFolder
from slipring.control.token_sections import LIFETIME_MAX_S, TokenSection
from slipring.errors import TokenError
from slipring.native import TokenRules, sign_token

ClaimValue = str | int | float | bool | list[str]

RESERVED = frozenset({"iss", "aud", "sub", "exp", "iat", "nbf", "jti", "roles"})


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token."""

    text: str
    """What the client sends; whoever has it is the user."""
    id: str
    expires_s: int


def issue(
    folder: TokenFolder,
    section: TokenSection,
    user: str,
    *,
    roles: Sequence[str] = (),
    claims: Mapping[str, ClaimValue] | None = None,
    lifetime_s: int | None = None,
) -> IssuedToken:
    """Sign a token; TokenError says why not."""
    lifetime_s = section.lifetime_s if lifetime_s is None else lifetime_s
    if not 0 < lifetime_s <= LIFETIME_MAX_S:
        raise TokenError(f"a token lasts 1 to {LIFETIME_MAX_S} seconds, not {lifetime_s}")
    if named := RESERVED & set(claims or {}):
        raise TokenError(f"the claim '{min(named)}' is set by the issuer; choose another name")
    now_s, token_id = int(time.time()), secrets.token_hex(16)
    payload = dict(claims or {}) | {
        "iss": section.issuer,
        "sub": user,
        "iat": now_s,
        "exp": now_s + lifetime_s,
        "jti": token_id,
        "roles": list(roles),
    }
    if section.audience:
        payload["aud"] = section.audience
    key = folder.key_until(now_s + lifetime_s)
    text = sign_token(key.private, json.dumps(payload))
    # What we would refuse is not handed out: a name with control characters, too many claims.
    own_rules(section, [key.public]).verify(text.encode(), now_s)
    return IssuedToken(text, token_id, now_s + lifetime_s)


def own_issuer(section: TokenSection, keys: list[str]) -> dict[str, object]:
    """Our own issuer for the engine, with these public keys."""
    return {
        "issuer": section.issuer,
        "keys": keys,
        "audience": [section.audience] if section.audience else [],
        "user_claim": "sub",
        "roles_claim": "roles",
        "leeway_s": section.leeway_s,
    }


def own_rules(section: TokenSection, keys: list[str]) -> TokenRules:
    """Rules that accept only tokens of our own."""
    return TokenRules([own_issuer(section, keys)], {}, {})
