"""Where a lake is: a folder, or a prefix of a bucket in S3-compatible storage.

A location is pickled and sent to Spark's workers, with its keys; it never prints a secret.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from slipring.errors import ConfigError

S3 = "s3://"
OPTIONS = (
    "AWS_ENDPOINT_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_ALLOW_HTTP",
)
"""What a location may be told; what it is not told, it takes from the environment."""


@dataclass(frozen=True)
class LakeLocation:
    """A lake, or one table of it. Without keys, S3 is used as the machine's own role."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, where: str | Path, options: Mapping[str, str] | None = None) -> "LakeLocation":
        """A location from a folder or `s3://bucket/prefix`; names of options as in OPTIONS."""
        text = str(where)
        if not text.startswith(S3):
            return cls(str(Path(text).absolute()))
        if not text[len(S3) :].strip("/"):
            raise ConfigError(f"{text} names no bucket: write s3://bucket/prefix")
        return cls(text.rstrip("/"), _s3_options(options or {}))

    @property
    def is_local(self) -> bool:
        return not self.uri.startswith(S3)

    @property
    def path(self) -> Path:
        """The folder of a local lake."""
        assert self.is_local, f"{self.uri} is not a folder"
        return Path(self.uri)

    def child(self, name: str) -> "LakeLocation":
        """A table of the lake."""
        return LakeLocation(f"{self.uri}/{name}", self.options)

    def delta_options(self) -> dict[str, str]:
        """What delta-rs needs. A log entry is put only if it is not there: commits are atomic."""
        if self.is_local:
            return {}
        http = {"AWS_ALLOW_HTTP": "true"} if self._endpoint().startswith("http://") else {}
        return {**self.options, **http, "AWS_CONDITIONAL_PUT": "etag"}

    def filesystem(self) -> pa.fs.FileSystem:
        """Files by their paths below this location, to write and to read them."""
        if self.is_local:
            return fs.SubTreeFileSystem(self.uri, fs.LocalFileSystem())
        scheme, _, host = self._endpoint().rpartition("://")
        bucket = fs.S3FileSystem(
            access_key=self.options.get("AWS_ACCESS_KEY_ID"),
            secret_key=self.options.get("AWS_SECRET_ACCESS_KEY"),
            session_token=self.options.get("AWS_SESSION_TOKEN"),
            region=self.options.get("AWS_REGION"),
            scheme=scheme or None,
            endpoint_override=host or None,
        )
        return fs.SubTreeFileSystem(self.uri[len(S3) :], bucket)

    def _endpoint(self) -> str:
        return self.options.get("AWS_ENDPOINT_URL", "").rstrip("/")


def _s3_options(given: Mapping[str, str]) -> dict[str, str]:
    told = {name.upper(): value for name, value in given.items()}
    if unknown := sorted(set(told) - set(OPTIONS)):
        raise ConfigError(
            f"unknown option of S3 storage: {', '.join(unknown)}; known are {', '.join(OPTIONS)}"
        )
    found = {name: told.get(name) or os.environ.get(name) for name in OPTIONS}
    found["AWS_REGION"] = found["AWS_REGION"] or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    return {name: value for name, value in found.items() if value}
