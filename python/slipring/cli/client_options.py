"""Options of `sub`, `pub` and `request` as mosquitto's clients have them."""

import ipaddress
import os
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from slipring.cli.access import URL_NAME, Access
from slipring.client.connecting import URL
from slipring.credentials import PASSWORD

HOST = "127.0.0.1"
PORT, TLS_PORT = 1883, 8883


def _refuse_password(given: str | None) -> None:
    if given is not None:
        raise typer.BadParameter(
            "every user of this machine could read a password on a command line; give "
            f"--password-file FILE, or set {PASSWORD}, or leave it out: then you are asked"
        )


@dataclass(frozen=True)
class ClientOptions:
    """Where the broker is, as mosquitto's clients are told, and who connects."""

    host: Annotated[
        str | None,
        typer.Option("--host", "-h", help=f"The broker's host, instead of --url; else {HOST}."),
    ] = None
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            "-p",
            min=1,
            max=65535,
            help=f"The broker's port, instead of --url; else {PORT}, with --ca or --cert "
            f"{TLS_PORT}.",
        ),
    ] = None
    client_id: Annotated[
        str | None,
        typer.Option(
            "--client-id", "--id", "-i", help="The name of the session; else the broker gives one."
        ),
    ] = None
    password: Annotated[
        None, typer.Option("-P", "--pw", hidden=True, parser=str, callback=_refuse_password)
    ] = None

    def reach(self, access: Access) -> Access:
        """The same access, to the host and port if they are given."""
        if self.host is None and self.port is None:
            return access
        if access.url not in (URL, os.environ.get(URL_NAME)):
            raise typer.BadParameter("give --url, or --host and --port, not both")
        has_tls = bool(access.ca or access.cert)
        port = self.port or (TLS_PORT if has_tls else PORT)
        host = _bracketed(self.host or HOST)
        return replace(access, url=f"{'mqtts' if has_tls else 'mqtt'}://{host}:{port}")


def _bracketed(host: str) -> str:
    """An IPv6 address in brackets, as in a URL; all else as it is."""
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        if set(host) & set("/@?# "):
            raise typer.BadParameter(
                f"{host!r} is not a host; an address goes with --url", param_hint="--host"
            ) from None
        return host
