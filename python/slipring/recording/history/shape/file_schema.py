"""What the columns of a history file are called and typed: readers and writers share it. Pure."""

import re

import pyarrow as pa

from slipring.model import Kind, Quality

QUALITY_SUFFIX = "#quality"
"""Follows a parameter's name: the column with its qualities. No topic contains `#`."""
EARLIER_NAME = re.compile(r".+#(\d+)", re.DOTALL)
"""A name with an index: an earlier parameter, whose name another one took over."""

PARAMETER_KEY = b"slipring.parameter"
"""In the metadata of a wide file's field: the parameter's definition as JSON."""
PARAMETERS_KEY = b"slipring.parameters"
"""In the metadata of a long file: the definitions by name, as JSON."""
JOURNAL_KEY = b"slipring.journal"
"""In the metadata of a file: the identity of the journal it came from."""

TIME_TYPE = pa.timestamp("ns", "UTC")
ARROW_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.U8: pa.uint8(),
    Kind.U16: pa.uint16(),
    Kind.U32: pa.uint32(),
    Kind.U64: pa.uint64(),
    Kind.I8: pa.int8(),
    Kind.I16: pa.int16(),
    Kind.I32: pa.int32(),
    Kind.I64: pa.int64(),
    Kind.F32: pa.float32(),
    Kind.F64: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BYTES: pa.binary(),
}
QUALITY_WORDS = [str(Quality.of_byte(byte)) for byte in range(256)]
"""How a file writes the quality of each byte."""
