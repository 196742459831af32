"""Values from texts, written as in plain messages: `12034.5`, `true`, a label. Pure.

Wrong texts are returned as a mask, never raised: only the caller knows the line of each.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import DTYPES, Values
from slipring.model import Kind, Parameter
from slipring.recording.history.shape.file_schema import ARROW_TYPES
from slipring.recording.history.shape.recorded_samples import Mask

TRUTHS = {
    **dict.fromkeys(("true", "True", "TRUE", "1"), True),
    **dict.fromkeys(("false", "False", "FALSE", "0"), False),
}


class ParsedValues(NamedTuple):
    """A value for each text; the masks say which texts are values, and which are wrong."""

    values: Values
    is_value: Mask
    is_wrong: Mask


def parse_values(parameter: Parameter, texts: pa.Array) -> ParsedValues:
    """The values of texts; null is neither a value nor wrong."""
    absent: Mask = np.asarray(texts.is_null())
    if parameter.kind.is_fixed and not parameter.labels:
        values = _parse_together(parameter.kind, texts)
        if values is not None:
            return ParsedValues(values, ~absent, np.zeros(len(texts), np.bool_))
    return _one_by_one(parameter, texts, absent)


def _parse_together(kind: Kind, texts: pa.Array) -> Values | None:
    """All values by one call of Arrow; None if Arrow cannot read one of them."""
    try:
        if kind is Kind.BOOL:
            return _truths(texts)
        found = pc.utf8_trim_whitespace(texts).cast(ARROW_TYPES[kind])
        values = np.asarray(pc.fill_null(found, pa.scalar(0, found.type)))
    except pa.ArrowException:
        return None
    # Arrow makes a number that is too large infinite; one by one it is found to be wrong.
    return None if kind in {Kind.F32, Kind.F64} and np.isinf(values).any() else values


def _truths(texts: pa.Array) -> Values | None:
    codes = pc.index_in(pc.utf8_trim_whitespace(texts), pa.array(list(TRUTHS)))
    if codes.null_count != texts.null_count:
        return None
    truths = np.array(list(TRUTHS.values()), np.bool_)
    found: Values = truths[np.asarray(pc.fill_null(codes, 0))]
    return found


def _one_by_one(parameter: Parameter, texts: pa.Array, absent: Mask) -> ParsedValues:
    values = np.zeros(len(texts), DTYPES[parameter.kind])
    wrong = np.zeros(len(texts), np.bool_)
    read = _reader_of(parameter)
    distinct = texts.dictionary_encode()
    codes = np.asarray(pc.fill_null(distinct.indices, -1))
    for code, text in enumerate(distinct.dictionary.to_pylist()):
        try:
            values[codes == code] = read(text)
        except (ValueError, OverflowError):
            wrong |= codes == code
    return ParsedValues(values, ~absent & ~wrong, wrong)


def _reader_of(parameter: Parameter) -> Callable[[str], Any]:
    """A function that reads a text; ValueError or OverflowError if the text is not a value."""
    if parameter.labels:
        return _label_reader(parameter.kind, parameter.labels)
    match parameter.kind:
        case Kind.TEXT:
            return str
        case Kind.BYTES:
            return _bytes
        case Kind.BOOL:
            return _truth
        case Kind.F32 | Kind.F64:
            return lambda text: _float(parameter.kind, text)
        case kind:
            return lambda text: _integer(kind, text)


def _label_reader(kind: Kind, labels: Mapping[int, str]) -> Callable[[str], int]:
    numbers = {label: number for number, label in sorted(labels.items(), reverse=True)}

    def read(text: str) -> int:
        return numbers[text] if text in numbers else _integer(kind, text)

    return read


def _truth(text: str) -> bool:
    try:
        return TRUTHS[text.strip()]
    except KeyError:
        raise ValueError(text) from None


def _integer(kind: Kind, text: str) -> int:
    if "_" in text:
        raise ValueError(text)
    number = int(text)
    limits = np.iinfo(DTYPES[kind])
    if not limits.min <= number <= limits.max:
        raise OverflowError(text)
    return number


def _float(kind: Kind, text: str) -> float:
    if "_" in text:
        raise ValueError(text)
    number = float(text)
    with np.errstate(over="ignore"):
        narrow = DTYPES[kind].type(number)
    if np.isinf(narrow) and any(map(str.isdigit, text)):
        raise OverflowError(text)
    return number


def _bytes(text: str) -> bytes:
    """Text files have bytes in Base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(text) from None
