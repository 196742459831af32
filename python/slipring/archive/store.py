"""The objects of an archive: the few requests that the room makes, with its own errors.

The only importer of obstore. Holds at most PART_BYTES of an object twice.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from slipring.archive.location import ArchiveLocation
from slipring.archive.pace import Pace
from slipring.errors import ArchiveError, ConfigError

try:
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
    from obstore.store import S3Store
except ImportError:
    raise ConfigError(
        "an archive needs the package obstore: pip install 'slipring[archive]'"
    ) from None

PART_BYTES = 8 << 20
"""Bytes of one request: objects larger than this go in parts."""
CONNECT_S = 5.0
REQUEST_S = 60.0
"""A part that takes longer fails, and is tried again."""
TRIES_MAX = 2
SHA256 = "sha256"
"""The name of the checksum in an object's metadata."""


class OtherVersion(ArchiveError):
    """Somebody else has written the object since it was read."""


@dataclass(frozen=True)
class StoredObject:
    """What the storage says of an object."""

    bytes: int
    sha256: str | None


class ArchiveStore:
    """The objects below one prefix."""

    def __init__(self, location: ArchiveLocation) -> None:
        """Connects with the first request."""
        self.url: str = location.url
        options = location.options
        endpoint = options.get("AWS_ENDPOINT_URL", "").rstrip("/")
        names = {
            "access_key_id": "AWS_ACCESS_KEY_ID",
            "secret_access_key": "AWS_SECRET_ACCESS_KEY",
            "session_token": "AWS_SESSION_TOKEN",
            "region": "AWS_REGION",
        }
        keys = {name: options[key] for name, key in names.items() if key in options}
        config: Any = {**keys, "checksum_algorithm": "sha256", "conditional_put": "etag"}
        if endpoint:
            config["endpoint"] = endpoint
        self._store = S3Store(
            location.bucket,
            prefix=location.prefix or None,
            config=config,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=CONNECT_S),
                "timeout": timedelta(seconds=REQUEST_S),
            },
            retry_config={"max_retries": TRIES_MAX, "retry_timeout": timedelta(seconds=REQUEST_S)},
        )

    def children(self) -> list[str]:
        """The names one level below the prefix that have objects below them."""
        with self._told("list", ""):
            found = obstore.list_with_delimiter(self._store)
            paths = (str(path).rstrip("/") for path in found["common_prefixes"])
            return sorted(path.rpartition("/")[2] for path in paths)

    def head(self, key: str) -> StoredObject | None:
        """What is stored under a key; None if nothing is."""
        try:
            with self._told("look at", key):
                found = obstore.get(self._store, key, options={"head": True})
                sha256 = {name.lower(): text for name, text in found.attributes.items()}.get(SHA256)
                return StoredObject(found.meta["size"], sha256)
        except FileNotFoundError:
            return None

    def get(self, key: str) -> tuple[bytes, str] | None:
        """A small object and its version; None if there is none."""
        try:
            with self._told("read", key):
                found = obstore.get(self._store, key)
                return bytes(found.bytes()), found.meta["e_tag"] or ""
        except FileNotFoundError:
            return None

    def version(self, key: str) -> str | None:
        """The version of an object; None if there is none."""
        try:
            with self._told("look at", key):
                return obstore.head(self._store, key)["e_tag"] or ""
        except FileNotFoundError:
            return None

    def replace(self, key: str, content: bytes, version: str | None) -> str:
        """Put a small object if it still has this version, or is still absent; its new version."""
        mode: Any = "create" if version is None else {"e_tag": version}
        try:
            with self._told("write", key):
                put = obstore.put(self._store, key, content, mode=mode)
                return put["e_tag"] or ""
        except (AlreadyExistsError, PreconditionError):
            raise OtherVersion(f"{self.url}/{key}: somebody else has written it") from None

    def put(self, key: str, content: bytes) -> None:
        """Put a small object."""
        with self._told("write", key):
            digest = hashlib.sha256(content).hexdigest()
            obstore.put(self._store, key, content, attributes={SHA256: digest})

    def upload(self, key: str, file: Path, sha256: str, pace: Pace) -> None:
        """Put a file, part by part; its content is hashed again on the way."""
        digest = hashlib.sha256()
        with self._told("write", key), file.open("rb") as stream:
            obstore.put(
                self._store,
                key,
                pace.pieces(stream, digest.update),
                attributes={SHA256: sha256},
                chunk_size=PART_BYTES,
                max_concurrency=1,
            )
        if digest.hexdigest() != sha256:
            self.delete(key)
            raise ArchiveError(f"{file} changed while it was sent; check the disk")

    def parts(self, key: str, size: int) -> Iterator[bytes]:
        """The content of an object, in parts."""
        for start in range(0, size, PART_BYTES):
            end = min(size, start + PART_BYTES)
            try:
                with self._told("read", key):
                    part = bytes(obstore.get_range(self._store, key, start=start, end=end))
            except FileNotFoundError:
                raise ArchiveError(f"{self.url}/{key} is not there any more") from None
            yield part

    def delete(self, key: str) -> None:
        with self._told("delete", key):
            obstore.delete(self._store, key)

    @contextmanager
    def _told(self, verb: str, key: str) -> Iterator[None]:
        try:
            yield
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            raise
        except BaseError as error:
            raise ArchiveError(f"cannot {verb} {self.url}/{key}: {_short(error)}") from None


def _short(error: BaseError) -> str:
    """The first line, which has the status and the server's message."""
    return str(error).split("\n\nDebug source")[0].strip()[:400]
