"""Secrets of the configuration: in the file itself, in one of their own, or in the environment."""

import os
from typing import Annotated, Any

from pydantic import BeforeValidator, SecretStr

from slipring.errors import SecretError
from slipring.native import read_secret_file


def _resolved(given: Any) -> Any:
    """The secret of `{ file = "PATH" }` or `{ env = "NAME" }`; anything else as it is.

    A mistake never shows what was given: it could be the secret itself.
    """
    if not isinstance(given, dict):
        return given
    match given:
        case {"file": str(path), **more} if not more:
            return SecretStr(_from_file(path))
        case {"env": str(name), **more} if not more:
            if name not in os.environ:
                raise ValueError(f"the environment has no {name}")
            return SecretStr(os.environ[name])
    raise ValueError('a secret is a text, { file = "PATH" } or { env = "NAME" }')


def _from_file(path: str) -> str:
    try:
        return read_secret_file(path).decode()
    except SecretError as error:
        raise ValueError(str(error)) from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8") from None


ConfigSecret = Annotated[SecretStr, BeforeValidator(_resolved)]
"""A secret of the configuration, which is never shown."""
