"""The S3-compatible server that the tests use: what the rest counts on."""

import obstore
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from obstore.exceptions import AlreadyExistsError
from obstore.store import S3Store

from tests.s3_server import S3Server


def store(server: S3Server, bucket: str) -> S3Store:
    options = server.options
    return S3Store(
        bucket,
        endpoint=options["AWS_ENDPOINT_URL"],
        access_key_id=options["AWS_ACCESS_KEY_ID"],
        secret_access_key=options["AWS_SECRET_ACCESS_KEY"],
        region=options["AWS_REGION"],
        client_options={"allow_http": True},
    )


def test_an_object_that_exists_is_not_created_again(s3_server: S3Server, s3_bucket: str) -> None:
    objects = store(s3_server, s3_bucket)
    obstore.put(objects, "one", b"first", mode="create")

    with pytest.raises(AlreadyExistsError):
        obstore.put(objects, "one", b"second", mode="create")

    assert obstore.get(objects, "one").bytes() == b"first"


def test_buckets_are_apart(s3_server: S3Server, s3_bucket: str) -> None:
    obstore.put(store(s3_server, s3_bucket), "one", b"first")

    with pytest.raises(FileNotFoundError):
        obstore.get(store(s3_server, s3_server.new_bucket()), "one")


def test_a_delta_table_is_committed(s3_server: S3Server, s3_bucket: str) -> None:
    table = f"s3://{s3_bucket}/table"
    for _ in range(2):
        write_deltalake(
            table, pa.table({"a": [1, 2]}), mode="append", storage_options=s3_server.options
        )

    read = DeltaTable(table, storage_options=s3_server.options)
    assert read.version() == 1
    assert read.to_pyarrow_table().num_rows == 4


def test_objects_outlive_a_kill(own_s3_server: S3Server) -> None:
    bucket = own_s3_server.new_bucket()
    content = bytes(range(256)) * 80_000
    obstore.put(store(own_s3_server, bucket), "large", content, chunk_size=8 << 20)

    own_s3_server.kill()
    own_s3_server.start()

    objects = store(own_s3_server, bucket)
    assert obstore.get(objects, "large").bytes() == content
    assert bytes(obstore.get_range(objects, "large", start=257, end=260)) == b"\x01\x02\x03"
