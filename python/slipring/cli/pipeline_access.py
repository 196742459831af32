"""The options by which the pipeline reaches its broker: of the command line, else of the file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.credentials import AUTHENTICATION, PASSWORD, TOKEN, TOKEN_FILE

if TYPE_CHECKING:
    from slipring.pipeline.broker_section import BrokerSection


@dataclass(frozen=True)
class PipelineAccess:
    """How to reach the broker; what is not given is as `[pipeline.broker]` says."""

    user: Annotated[
        str | None,
        typer.Option(help=f"Your user name there; the password is in {PASSWORD} or a file."),
    ] = None
    password_file: Annotated[
        Path | None, typer.Option(help=f"The password is its first line; else {PASSWORD}.")
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option(envvar=TOKEN_FILE, help=f"The token is its first line; else {TOKEN}."),
    ] = None
    authentication: Annotated[
        str | None, typer.Option(envvar=AUTHENTICATION, help="password, scram or token.")
    ] = None
    ca: Annotated[Path | None, typer.Option(help="Certificates of trusted authorities (PEM).")] = (
        None
    )
    cert: Annotated[Path | None, typer.Option(help="Your certificate (PEM); with --key.")] = None
    key: Annotated[Path | None, typer.Option(help="The key of your certificate (PEM).")] = None
    server_name: Annotated[
        str | None, typer.Option(help="The name in the broker's certificate, if not its host.")
    ] = None

    def options(self, section: "BrokerSection") -> dict[str, str]:
        """As options of Spark's source, by their names in small letters."""
        given = {
            "user": self.user or section.user,
            "passwordfile": self.password_file or section.password_file,
            "tokenfile": self.token_file or section.token_file,
            "authentication": self.authentication or section.authentication,
            "ca": self.ca or section.ca,
            "certificate": self.cert or section.certificate,
            "key": self.key or section.key,
            "servername": self.server_name or section.server_name,
        }
        return {name: str(value) for name, value in given.items() if value is not None}
