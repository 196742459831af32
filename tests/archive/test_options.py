"""The options of Spark's source that lead to an archive, and the broker's own key."""

import pytest

from slipring.control.config import Config
from slipring.errors import ConfigError
from slipring.journal.location import JournalArchive
from slipring.spark.options import parse_options

S3 = {"path": "s3://bucket/jets/", "s3Endpoint": "http://here", "s3AccessKey": "k"}


def test_an_archive_is_known_by_its_address() -> None:
    found = parse_options(S3 | {"cache": "/fast", "cacheBytes": "1000"}).location
    assert isinstance(found, JournalArchive)
    assert found.archive.url == "s3://bucket/jets"
    assert found.archive.options["AWS_ENDPOINT_URL"] == "http://here"
    assert (found.broker, found.cache, found.cache_bytes) == (None, "/fast", 1000)


@pytest.mark.parametrize(
    "paths",
    [
        {"path": "s3://bucket/jets", "broker": "mqtt://host"},
        {"path": "mqtt://host", "broker": "s3://bucket/jets"},
    ],
)
def test_an_archive_may_have_a_broker(paths: dict[str, str]) -> None:
    found = parse_options({**paths, "user": "lake", "password": "pencil"}).location
    assert isinstance(found, JournalArchive)
    assert found.archive.url == "s3://bucket/jets"
    assert found.broker is not None
    assert (found.broker.url, found.broker.credentials.user) == ("mqtt://host", "lake")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"path": "s3://"}, "write s3://bucket/prefix"),
        ({"path": "s3://bucket", "user": "lake"}, "user goes with a broker only"),
        ({"path": "data", "s3Endpoint": "http://here"}, "s3Endpoint goes with an archive only"),
        ({"path": "mqtt://host", "cache": "/fast"}, "cache goes with an archive only"),
        ({"path": "s3://bucket", "cacheBytes": "many"}, "a whole number"),
    ],
)
def test_what_is_not_allowed_is_answered_with_what_is(raw: dict[str, str], message: str) -> None:
    with pytest.raises((ValueError, ConfigError), match=message):
        parse_options(raw)


def test_the_brokers_key_is_checked_when_the_file_is_read() -> None:
    assert Config.model_validate({"journal": {"archive": "s3://bucket/jets"}}).journal.archive
    with pytest.raises(ValueError, match="write s3://bucket/prefix"):
        Config.model_validate({"journal": {"archive": "bucket/jets"}})
