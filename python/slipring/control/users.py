"""The users of a broker. Passwords are not stored, only verifiers to check them with."""

import secrets
import unicodedata
from collections import Counter
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from slipring.control.access import Role
from slipring.control.secret import ConfigSecret
from slipring.control.section import Section
from slipring.errors import ConfigError, PlanError
from slipring.native import check_verifier, make_verifier

SALT_BYTES = 16
PASSWORD_CHARACTERS_MAX = 1_024
ROLES_MAX = 64
EXAMPLE_VERIFIER = f"SCRAM-SHA-256$4096:{'A' * 22}==${'A' * 43}=:{'A' * 43}="
"""A verifier that no password matches, as an example."""


def _is_printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("a name must not have control characters")
    return name


def _is_verifier(password: SecretStr) -> SecretStr:
    try:
        check_verifier(password.get_secret_value())
    except PlanError as error:
        raise ValueError(str(error)) from None
    return password


class UserSection(Section):
    """A user who may connect. Without any user, everyone may."""

    name: Annotated[str, AfterValidator(_is_printable)] = Field(
        min_length=1, max_length=256, description="The user name.", examples=["gripen"]
    )
    password: Annotated[ConfigSecret, AfterValidator(_is_verifier)] = Field(
        description="What `slipring password` prints, never the password itself; or "
        '{ file = "PATH" } or { env = "NAME" } where that is (secrets.md).',
        examples=[EXAMPLE_VERIFIER],
    )
    roles: tuple[Role, ...] = Field(
        (),
        max_length=ROLES_MAX,
        description="What the user is; rules name roles (access.md). Built in are `viewer`, "
        "`operator` and `administrator`.",
        examples=[("engineer",)],
    )

    @property
    def where(self) -> str:
        """The place that has this user, for people."""
        return "the config file"


def refuse_duplicates(users: tuple[UserSection, ...]) -> tuple[UserSection, ...]:
    """Refuse a name that is used twice."""
    for name, count in Counter(user.name for user in users).items():
        if count > 1:
            places = sorted({user.where for user in users if user.name == name})
            where = f": {' and '.join(places)}" if len(places) > 1 else ""
            raise ValueError(f"the name '{name}' is there twice{where}")
    return users


def verifier_of(password: str, iterations: int) -> str:
    """Make the verifier to store for a password; ConfigError says why the password is refused."""
    if not 0 < len(password) <= PASSWORD_CHARACTERS_MAX:
        raise ConfigError(f"a password has 1 to {PASSWORD_CHARACTERS_MAX} characters")
    # RFC 5802 lets both sides normalise passwords, so that two encodings of a letter are equal.
    # Devices seldom do, so a password that normalisation would change is refused.
    if not password.isprintable() or unicodedata.normalize("NFKC", password) != password:
        raise ConfigError("the password has characters that programs encode in different ways")
    return make_verifier(password.encode(), secrets.token_bytes(SALT_BYTES), iterations)
