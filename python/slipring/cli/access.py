"""The options by which every command reaches a broker.

A password or a token is never an argument: every user of the machine could read it there.
"""

import contextlib
import getpass
import logging
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from slipring.cli.option_sets import option_sets
from slipring.cli.token_store import stored_token
from slipring.client import Tls, connect
from slipring.client.connecting import URL, Connecting
from slipring.credentials import (
    AUTHENTICATION,
    PASSWORD,
    TOKEN,
    TOKEN_FILE,
    USER,
    BrokerCredentials,
    token_user,
)
from slipring.errors import SecretError
from slipring.journal.location import JournalBroker
from slipring.native import read_secret_file

URL_NAME = "SLIPRING_URL"
"""The environment variable of --url."""


def _file(text: str, **more: Any) -> Any:
    return typer.Option(help=text, exists=True, dir_okay=False, **more)


@dataclass(frozen=True)
class Access:
    """How to reach a broker, as given on the command line."""

    url: Annotated[
        str,
        typer.Option(
            envvar=URL_NAME,
            help="The broker: mqtt://host:port, mqtts:, ws:, wss: or unix:/path.",
        ),
    ] = URL
    user: Annotated[
        str | None, typer.Option("--user", "-u", envvar=USER, help="Your user name.")
    ] = None
    password_file: Annotated[
        Path | None,
        _file(f"The password is its first line; else {PASSWORD}; else you are asked."),
    ] = None
    token_file: Annotated[
        Path | None,
        _file(
            f"The token is its first line; else {TOKEN}; else that of `slipring login`.",
            envvar=TOKEN_FILE,
        ),
    ] = None
    authentication: Annotated[
        Literal["password", "scram", "token"] | None,
        typer.Option(
            envvar=AUTHENTICATION,
            help="scram never sends the password; password sends a token as the password.",
        ),
    ] = None
    ca: Annotated[Path | None, _file("Certificates of trusted authorities (PEM).")] = None
    cert: Annotated[Path | None, _file("Your certificate (PEM); with --key.")] = None
    key: Annotated[Path | None, _file("The key of your certificate (PEM).")] = None
    server_name: Annotated[
        str | None, typer.Option(help="The name in the broker's certificate, if not its host.")
    ] = None

    def connect(self, **options: Any) -> Connecting:
        """Open the connection; the options are those of `slipring.connect`.

        When it is lost or restored, a line on standard error says so.
        """
        _log_losses()
        credentials = self.credentials().connecting()
        return connect(self.url, **credentials, tls=self._tls(), **options)

    def who(self) -> str:
        """Whom a rule names to mean this user, as far as the options tell."""
        token = None
        if self.user is None and self.token_file is not None:
            token = read_secret_file(self.token_file)
        elif self.user is None:
            token = os.environb.get(TOKEN.encode()) or (None if self.cert else self._stored())
        user = self.user or (None if token is None else token_user(token))
        is_proven = token is not None or self.cert is not None
        return f"user:{user or 'NAME'}" if user or is_proven else "anonymous"

    def journal(self) -> JournalBroker:
        """The same broker, to read its journal."""
        self._tls()
        ca, cert, key = (
            None if one is None else str(one) for one in (self.ca, self.cert, self.key)
        )
        credentials = self.credentials()
        if callable(credentials.token):
            token = stored_token(self.url)
            credentials = self._made(token=token)
        return JournalBroker(self.url, credentials, ca, cert, key, self.server_name)

    def credentials(self) -> BrokerCredentials:
        """What was given; else what the environment has; else the token of `slipring login`."""
        if self.token_file is not None and not (self.user and self.password_file):
            return self._made(token_file=self.token_file)
        if self.user is not None and (self.password_file or PASSWORD in os.environ):
            return self._made(password=self._password())
        if TOKEN in os.environ and self._is_mine(os.environb[TOKEN.encode()]):
            return self._made(token=os.environb[TOKEN.encode()])
        if self.cert is None and self._is_mine(self._stored()):
            return self._made(token=self._login)
        return BrokerCredentials() if self.user is None else self._made(password=self._password())

    def _stored(self) -> bytes | None:
        """The token of `slipring login`. One that has ended is no hindrance to a password."""
        with contextlib.suppress(*(() if self.user is None else (SecretError,))):
            return stored_token(self.url, told=True)
        return None

    def _is_mine(self, token: bytes | None) -> bool:
        """Whether it is a token of the user that was named, if one was."""
        return token is not None and self.user in (None, token_user(token))

    def _made(self, **secret: Any) -> BrokerCredentials:
        try:
            return BrokerCredentials(self.user, authentication=self.authentication, **secret)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    def _login(self) -> bytes:
        """The newest token: `slipring login` may have renewed it meanwhile."""
        token = stored_token(self.url)
        if token is None:
            raise SecretError(f"you are not logged in at {self.url} any more; run: slipring login")
        return token

    def _password(self) -> bytes:
        if self.password_file is not None:
            return read_secret_file(self.password_file)
        if PASSWORD in os.environ:
            return os.environb[PASSWORD.encode()]
        return asked_password(self.user)

    def _tls(self) -> Tls | None:
        if (self.cert is None) != (self.key is None):
            raise typer.BadParameter("give --cert and --key together")
        files = (self.ca, self.cert, self.server_name)
        if not any(files) and not self.url.startswith(("mqtts:", "wss:")):
            return None
        return Tls(ca=self.ca, certificate=self.cert, key=self.key, server_name=self.server_name)


def asked_password(user: str | None) -> bytes:
    """The password, as a person types it; SecretError if there is nobody to ask."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(f"Password of {user}: ").encode()
    except (getpass.GetPassWarning, EOFError, OSError):
        text = f"no password for {user!r}: give --password-file, or set {PASSWORD}"
        raise SecretError(text) from None


def _log_losses() -> None:
    log = logging.getLogger("slipring.client")
    to_stderr = logging.StreamHandler()
    to_stderr.setFormatter(logging.Formatter("slipring: %(message)s"))
    log.addHandler(to_stderr)
    log.setLevel(logging.INFO)
    log.propagate = False


def with_access(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Access` to a command, which gets them as `access`."""
    return option_sets({"access": Access})(command)
