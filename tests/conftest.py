"""Fixtures for every test. Quick to import: Spark starts only where a test asks for it."""

pytest_plugins = [
    "tests.parallel",
    "tests.faults.telling",
    "tests.unhurried",
    "tests.running_broker",
    "tests.limited_broker",
    "tests.configured_broker",
    "tests.chromium",
    "tests.s3_server",
    "tests.spark_session",
]
