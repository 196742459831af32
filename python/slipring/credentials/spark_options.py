"""The credentials that Spark's options, the pipeline's and the environment give."""

import os
from collections.abc import Mapping
from typing import cast

from slipring.credentials.broker_credentials import Authentication, BrokerCredentials
from slipring.credentials.environment import AUTHENTICATION, PASSWORD, TOKEN, TOKEN_FILE, USER
from slipring.errors import SecretError
from slipring.native import read_secret_file

OPTION_NAMES = ("user", "password", "passwordFile", "token", "tokenFile", "authentication")
"""Spark's options. Spark itself hides the values of those with password or token in their names."""


def from_options(given: Mapping[str, str]) -> BrokerCredentials:
    """From options by their names in small letters; what they leave out may be in the environment.

    Options come before the environment, and a user name before a token of the environment.
    """
    user, method = given.get("user"), _method(given)
    if "tokenfile" in given or "token" in given:
        token = given["token"].encode() if "token" in given else None
        return BrokerCredentials(user, None, token, given.get("tokenfile"), method)
    if user is None and TOKEN_FILE in os.environ:
        return BrokerCredentials(None, None, None, os.environ[TOKEN_FILE], method)
    if user is None and TOKEN in os.environ:
        return BrokerCredentials(None, None, os.environb[TOKEN.encode()], None, method)
    user = user or os.environ.get(USER)
    if user is None:
        return BrokerCredentials()
    return BrokerCredentials(user, _password(user, given), None, None, method)


def _password(user: str, given: Mapping[str, str]) -> bytes:
    if "passwordfile" in given:
        return read_secret_file(given["passwordfile"])
    if "password" in given:
        return given["password"].encode()
    if PASSWORD in os.environ:
        return os.environb[PASSWORD.encode()]
    raise SecretError(f"no password for {user!r}: give option passwordFile, or set {PASSWORD}")


def _method(given: Mapping[str, str]) -> Authentication | None:
    method = given.get("authentication") or os.environ.get(AUTHENTICATION)
    return cast("Authentication | None", method)
