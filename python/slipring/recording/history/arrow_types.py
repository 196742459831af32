"""What the values of a kind are to Arrow."""

import pyarrow as pa

from slipring.model import Kind

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
