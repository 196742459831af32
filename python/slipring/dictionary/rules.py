"""The rules for a parameter: the broker's bounds, and likely mistakes.

A rule yields each problem with its severity and what to do about it. It changes nothing.
"""

import difflib
import itertools
import math
from collections.abc import Iterator

from slipring.dictionary.draft import LIMITS, Draft
from slipring.dictionary.problem import Severity
from slipring.dictionary.unit_words import MISREAD, doubt
from slipring.model import Kind

NAME_BYTES_MAX = 65_535
UNIT_BYTES_MAX = 64
SOURCE_BYTES_MAX = 256
LABELS_MAX = 4_096
LABEL_BYTES_MAX = 256
LABEL_NUMBER_MAX = 0xFFFF_FFFF
RATE_HZ_MAX = 1e6

TYPES = (*(kind.word for kind in Kind), "enum")
UNORDERED = ("text", "bytes")
OTHER_WORDS = {
    "float": "f32", "single": "f32", "real": "f32", "float32": "f32", "double": "f64",
    "float64": "f64", "int": "i32", "integer": "i32", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "long": "i64", "short": "i16", "uint": "u32", "uint8": "u8",
    "byte": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "boolean": "bool",
    "bit": "bool", "string": "text", "str": "text", "char": "text", "binary": "bytes",
    "blob": "bytes", "enumeration": "enum",
}  # fmt: skip
"""Type names of other systems, and ours for each."""

RuleProblems = Iterator[tuple[Severity, str]]
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def all_of(draft: Draft) -> RuleProblems:
    """All problems of one draft."""
    for rule in (_name, _type, _labels, _unit, _source, _range, _limits, _rate):
        yield from rule(draft)


def bounds_of(word: str) -> tuple[int, int] | None:
    """The least and the greatest number of a type; None if it has no such bounds."""
    if word == "bool":
        return 0, 1
    if word not in TYPES or word == "enum" or not Kind.of_word(word).is_integer:
        return None
    bits = int(word[1:])
    return (0, 2**bits - 1) if word[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _name(draft: Draft) -> RuleProblems:
    name = draft.name
    if not name:
        yield ERROR, "the name is empty; give it one, or remove the row"
    if found := sorted({sign for sign in "+#" if sign in name}):
        yield ERROR, f"{' and '.join(found)} cannot be in a name, only in a filter; rename it"
    if name.startswith("$"):
        yield ERROR, "names that begin with $ are the broker's; rename it"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        yield ERROR, "there is a control character in the name; remove it"
    if (size := len(name.encode())) > NAME_BYTES_MAX:
        yield ERROR, f"the name has {size} bytes; {NAME_BYTES_MAX} are allowed: shorten it"
    if name and "" in name.split("/"):
        yield WARNING, "the name has an empty level; remove the extra /"
    if name != name.strip():
        yield WARNING, "the name begins or ends with a space; remove it"


def _type(draft: Draft) -> RuleProblems:
    word = draft.type
    if word in TYPES:
        return
    if not word:
        yield ERROR, f"the type is missing; give one of {', '.join(TYPES)}"
        return
    near = difflib.get_close_matches(word.lower(), TYPES, 1, 0.6)
    meant = OTHER_WORDS.get(word.lower()) or (near[0] if near else None)
    hint = f"write {meant}" if meant else f"give one of {', '.join(TYPES)}"
    yield ERROR, f"{word!r} is not a type; {hint}"


def _labels(draft: Draft) -> RuleProblems:
    labels = draft.labels
    if draft.type == "enum" and not labels:
        yield ERROR, "an enum needs labels, such as 0=off;1=on"
    if labels and draft.type in TYPES and draft.type != "enum":
        yield ERROR, f"a {draft.type} has no labels; write enum, or remove them"
    if len(labels) > LABELS_MAX:
        yield ERROR, f"{len(labels)} labels are too many; {LABELS_MAX} are allowed: write u32"
    first: dict[str, int] = {}
    for number, label in labels.items():
        if not 0 <= number <= LABEL_NUMBER_MAX:
            yield ERROR, f"label {label!r} has number {number}; give 0 to {LABEL_NUMBER_MAX}"
        if not 1 <= (size := len(label.encode())) <= LABEL_BYTES_MAX:
            yield ERROR, f"the label of {number} has {size} bytes; give 1 to {LABEL_BYTES_MAX}"
        if first.setdefault(label, number) != number:
            yield ERROR, f"{first[label]} and {number} have the same label {label!r}; rename one"


def _unit(draft: Draft) -> RuleProblems:
    unit = draft.unit
    if not unit:
        return
    if (size := len(unit.encode())) > UNIT_BYTES_MAX:
        yield ERROR, f"the unit has {size} bytes; {UNIT_BYTES_MAX} are allowed: shorten it"
    elif (found := doubt(unit)) is not None:
        yield WARNING, found
    elif unit in MISREAD:
        yield NOTE, f"unit {unit!r} {MISREAD[unit]}"


def _source(draft: Draft) -> RuleProblems:
    if (size := len(draft.source.encode())) > SOURCE_BYTES_MAX:
        yield ERROR, f"the source has {size} bytes; {SOURCE_BYTES_MAX} are allowed: shorten it"


def _range(draft: Draft) -> RuleProblems:
    given = [one for one in (draft.least, draft.greatest) if one is not None]
    if not given:
        return
    if draft.type in UNORDERED:
        yield ERROR, f"{draft.type} has no min and max; remove them"
    elif not all(map(math.isfinite, given)):
        yield ERROR, "min and max are finite numbers; leave them empty if there are none"
    elif len(given) == 2 and given[0] > given[1]:
        yield ERROR, f"max {given[1]:g} is below min {given[0]:g}; exchange them"
    elif len(given) == 1 and bounds_of(draft.type) is None:
        yield ERROR, "min and max come together; give both or none"
    elif (bounds := bounds_of(draft.type)) and (given[0] < bounds[0] or given[-1] > bounds[1]):
        span = f"{given[0]:g} to {given[-1]:g}"
        holds = f"a {draft.type} holds, {_span(bounds)}"
        yield WARNING, f"the range {span} is more than {holds}; correct it, or take a larger type"


def _limits(draft: Draft) -> RuleProblems:
    limits = [(name, draft.limits[name]) for name in LIMITS if name in draft.limits]
    if limits and draft.type in UNORDERED:
        yield ERROR, f"{draft.type} has no limits; remove them"
        return
    for name, limit in limits:
        if not math.isfinite(limit):
            yield ERROR, f"{name} is {limit}, not a finite number; leave it empty"
        elif not _within(limit, draft):
            span = f"{draft.least:g} to {draft.greatest:g}"
            yield WARNING, f"{name} {limit:g} is outside min and max, {span}; it is never reached"
    for (lower, below), (upper, above) in itertools.pairwise(limits):
        if below > above:
            yield ERROR, f"{lower} {below:g} is above {upper} {above:g}; limits rise: exchange them"


def _rate(draft: Draft) -> RuleProblems:
    if draft.rate_hz is not None and not 0 < draft.rate_hz <= RATE_HZ_MAX:
        bounds = f"above 0 and at most {RATE_HZ_MAX:,.0f}"
        yield ERROR, f"rate_hz {draft.rate_hz:g} is not {bounds}; correct it, or leave it empty"


def _within(limit: float, draft: Draft) -> bool:
    if draft.least is None or draft.greatest is None or draft.least > draft.greatest:
        return True
    return draft.least <= limit <= draft.greatest


def _span(bounds: tuple[int, int]) -> str:
    return f"{bounds[0]} to {bounds[1]}"
