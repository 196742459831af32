"""Where a lake is, and that its keys are not shown."""

from pathlib import Path

import pytest

from slipring.errors import ConfigError
from slipring.lake.storage import OPTIONS, LakeLocation

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "very-secret"}


@pytest.fixture(autouse=True)
def no_keys_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*OPTIONS, "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_a_folder_is_absolute_and_its_tables_are_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = LakeLocation.of("lake").child("samples")
    assert table.path == tmp_path / "lake" / "samples"
    assert table.delta_options() == {}


def test_a_location_never_shows_its_keys() -> None:
    location = LakeLocation.of("s3://bucket/lake", KEYS)
    for shown in (repr(location), str(location), f"{location.child('samples')}"):
        assert "very-secret" not in shown
        assert "s3://bucket/lake" in shown


def test_what_is_given_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of the environment")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    options = LakeLocation.of("s3://bucket", {"aws_access_key_id": "given"}).delta_options()
    assert options["AWS_ACCESS_KEY_ID"] == "given"
    assert (options["AWS_SESSION_TOKEN"], options["AWS_REGION"]) == ("token", "eu-north-1")


@pytest.mark.parametrize(("scheme", "allowed"), [("http", True), ("https", False)])
def test_plain_http_is_allowed_only_where_the_endpoint_says_so(scheme: str, allowed: bool) -> None:
    options = {**KEYS, "AWS_ENDPOINT_URL": f"{scheme}://storage:9000"}
    found = LakeLocation.of("s3://bucket", options).delta_options()
    assert ("AWS_ALLOW_HTTP" in found) is allowed
    assert found["AWS_CONDITIONAL_PUT"] == "etag"


@pytest.mark.parametrize(
    ("where", "options", "words"),
    [
        ("s3://", {}, "names no bucket"),
        ("s3://bucket", {"secret": "x"}, "unknown option of S3 storage: SECRET"),
    ],
)
def test_what_cannot_be_a_location_is_told(where: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        LakeLocation.of(where, options)
