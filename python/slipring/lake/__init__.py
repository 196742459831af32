"""The lake: Delta tables in a folder or in S3-compatible storage, written and read by delta-rs.

Must never import PySpark or a room of the broker. Quick to import: `open` loads what reading needs.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slipring.lake.lake import Lake

__all__ = ["open"]


def open(  # noqa: A001 (read as slipring.lake.open)
    where: str | Path,
    *,
    as_of: datetime | None = None,
    options: Mapping[str, str] | None = None,
) -> "Lake":
    """Open a lake to read it: a folder, or `s3://bucket/prefix`.

    With `as_of` every table is read as it was at that time. `options` are those of S3 storage, such
    as AWS_ENDPOINT_URL; what is not given is taken from the environment.
    """
    from slipring.lake.lake import Lake
    from slipring.lake.storage import LakeLocation

    return Lake(LakeLocation.of(where, options), as_of)
