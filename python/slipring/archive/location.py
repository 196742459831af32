"""Where an archive is. A location is pickled and sent to Spark's workers, with its keys; it never
prints a secret.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from slipring.errors import ConfigError

S3 = "s3://"
OPTIONS = (
    "AWS_ENDPOINT_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
)
"""What a location may be told; what it is not told, it takes from the environment."""
CONSUMER = "archive"
"""The archive's name among the journal's consumers: retention waits for it."""
IMPLIED = "AWS_ALLOW_HTTP"
"""Others need it; here the endpoint says whether it is http."""
REGION = "us-east-1"


@dataclass(frozen=True)
class ArchiveLocation:
    """A prefix of a bucket. Without keys, storage is used as the machine's own role."""

    bucket: str
    prefix: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, url: str, options: Mapping[str, str] | None = None) -> "ArchiveLocation":
        """A location from `s3://bucket/prefix`; names of options as in OPTIONS."""
        bucket, _, prefix = url.removeprefix(S3).partition("/")
        if not url.startswith(S3) or not bucket:
            raise ConfigError(f"{url!r} is not an archive: write s3://bucket/prefix")
        return cls(bucket, prefix.strip("/"), _told(options or {}))

    @property
    def url(self) -> str:
        return f"{S3}{self.bucket}/{self.prefix}".rstrip("/")

    def child(self, name: str) -> "ArchiveLocation":
        """The archive of one journal."""
        return ArchiveLocation(self.bucket, f"{self.prefix}/{name}".lstrip("/"), self.options)


def _told(given: Mapping[str, str]) -> dict[str, str]:
    told = {name.upper(): value for name, value in given.items()}
    if unknown := sorted(set(told) - {*OPTIONS, IMPLIED}):
        raise ConfigError(
            f"unknown option of S3 storage: {', '.join(unknown)}; known are {', '.join(OPTIONS)}"
        )
    found = {name: told.get(name) or os.environ.get(name) for name in OPTIONS}
    found["AWS_REGION"] = found["AWS_REGION"] or os.environ.get("AWS_DEFAULT_REGION") or REGION
    return {name: value for name, value in found.items() if value}
