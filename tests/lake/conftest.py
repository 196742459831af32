"""A lake in a folder, and one in S3-compatible storage that a real server process keeps."""

from pathlib import Path

import pytest

from slipring.lake.storage import LakeLocation
from tests.s3_server import S3Server


@pytest.fixture(params=["folder", "s3"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> LakeLocation:
    if request.param == "folder":
        return LakeLocation.of(tmp_path / "lake")
    server: S3Server = request.getfixturevalue("s3_server")
    return LakeLocation.of(f"s3://{request.getfixturevalue('s3_bucket')}/lake", server.options)
