"""The log line about the limit on open files."""

import logging

from slipring.control.descriptors import log_line


def test_enough_descriptors_are_told_and_too_few_are_a_warning() -> None:
    assert log_line(1_048_576, 1_048_192, 10_000) == (
        logging.INFO,
        "descriptors: the process may have 1,048,576, of which 1,048,192 are for clients",
    )
    level, line = log_line(1_024, 640, 10_000)
    assert level == logging.WARNING
    assert "limits.connections is 10,000, but there are only 640 for clients" in line
    assert log_line(10_384, 10_000, 10_000)[0] == logging.INFO
