"""The section `[pipeline.broker]`: what the pipeline proves its name with. Secrets are in files."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from slipring.pipeline.section import PipelineSection


class BrokerSection(PipelineSection):
    """How the jobs reach the broker that `--broker` and `--bus` name."""

    user: str | None = Field(None, description="The user name.", examples=["lake"])
    password_file: Path | None = Field(
        None,
        description="A file whose first line is the password, readable by its owner only; else "
        "SLIPRING_PASSWORD has it.",
        examples=["lake.password"],
    )
    token_file: Path | None = Field(
        None,
        description="A file whose first line is a token; it is read again for each connection.",
        examples=["lake.token"],
    )
    authentication: Literal["password", "scram", "token"] | None = Field(
        None, description="How they are sent: password, scram or token.", examples=["scram"]
    )
    ca: Path | None = Field(
        None, description="PEM file with the authorities to trust.", examples=["ca.pem"]
    )
    certificate: Path | None = Field(
        None, description="PEM file with the own certificate.", examples=["lake.pem"]
    )
    key: Path | None = Field(
        None, description="PEM file with the key of the certificate.", examples=["lake.key"]
    )
    server_name: str | None = Field(
        None,
        description="The name in the broker's certificate, if not its host.",
        examples=["broker.example"],
    )
