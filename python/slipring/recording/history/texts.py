"""Values from text, many at once, by the rules of plain messages: `12034.5`, `true`, a label. Pure.

What is wrong is told by its positions, never raised: the caller knows the line.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import DTYPES, Values
from slipring.model import Kind, Parameter
from slipring.recording.history.arrow_types import ARROW_TYPES

Mask = npt.NDArray[np.bool_]

TRUTHS = {
    **dict.fromkeys(("true", "True", "TRUE", "1"), True),
    **dict.fromkeys(("false", "False", "FALSE", "0"), False),
}


class Parsed(NamedTuple):
    """Values, where there are any, and where text was none; both masks are for all texts."""

    values: Values
    is_value: Mask
    is_wrong: Mask


def parse(parameter: Parameter, texts: pa.Array) -> Parsed:
    """The values of texts; null is no value and nothing wrong."""
    absent: Mask = np.asarray(texts.is_null())
    if parameter.kind.is_fixed and not parameter.labels:
        quick = _quickly(parameter.kind, texts)
        if quick is not None:
            return Parsed(quick, ~absent, np.zeros(len(texts), np.bool_))
    return _one_by_one(parameter, texts, absent)


def _quickly(kind: Kind, texts: pa.Array) -> Values | None:
    """All at once; None where one of them is not written in the usual way."""
    try:
        if kind is Kind.BOOL:
            return _truths(texts)
        found = pc.utf8_trim_whitespace(texts).cast(ARROW_TYPES[kind])
        values = np.asarray(pc.fill_null(found, pa.scalar(0, found.type)))
    except pa.ArrowException:
        return None
    # A number that is only infinite because it is too large is wrong; that is for the slow way.
    return None if kind in {Kind.F32, Kind.F64} and np.isinf(values).any() else values


def _truths(texts: pa.Array) -> Values | None:
    codes = pc.index_in(pc.utf8_trim_whitespace(texts), pa.array(list(TRUTHS)))
    if codes.null_count != texts.null_count:
        return None
    truths = np.array(list(TRUTHS.values()), np.bool_)
    found: Values = truths[np.asarray(pc.fill_null(codes, 0))]
    return found


def _one_by_one(parameter: Parameter, texts: pa.Array, absent: Mask) -> Parsed:
    values = np.zeros(len(texts), DTYPES[parameter.kind])
    wrong = np.zeros(len(texts), np.bool_)
    read = reader_of(parameter)
    distinct = texts.dictionary_encode()
    codes = np.asarray(pc.fill_null(distinct.indices, -1))
    for code, text in enumerate(distinct.dictionary.to_pylist()):
        try:
            values[codes == code] = read(text)
        except (ValueError, OverflowError):
            wrong |= codes == code
    return Parsed(values, ~absent & ~wrong, wrong)


def reader_of(parameter: Parameter) -> Callable[[str], Any]:
    """What reads one text; ValueError or OverflowError where it is no value."""
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
    """Files of text have bytes in Base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(text) from None
