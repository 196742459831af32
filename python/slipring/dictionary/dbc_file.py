"""Dictionaries as DBC, the CAN database: a signal becomes the parameter `message/signal`.

cantools parses the file; this decides what a signal becomes, and finds the line of a problem.
"""

import logging
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from slipring.dictionary.draft import Draft
from slipring.dictionary.problem import Findings
from slipring.dictionary.unit_words import translation

if TYPE_CHECKING:
    from cantools.database.can import Database, Message, Signal

MESSAGE = re.compile(r"\s*BO_\s+\d+\s+(\w+)\s*:")
SIGNAL = re.compile(r"\s*SG_\s+(\w+)[^:]*:?\s*(?:\d+\s*\|\s*(\d+))?")
NOBODY = "Vector__XXX"
UNSENT = "VECTOR__INDEPENDENT_SIG_MSG"
"""A message that tools write for signals that belong to no message."""
RANGELESS = ("bool", "enum", "bytes")
BITS_MAX = 64 * 8
"""The longest data of a CAN FD frame."""
DIGITS_MAX = 20
F32_STEPS_MAX = 2**23
"""A 32-bit float tells so many steps of a scaled signal apart."""


def read_dbc(text: str, findings: Findings) -> Iterator[Draft]:
    """The signals as drafts, in the file's order."""
    lines = _DbcLines(text)
    for line, words in lines.too_long:
        findings.error(line, words)
    database = None if lines.too_long else _parse(text, lines, findings)
    for message in database.messages if database else ():
        if message.name == UNSENT:
            continue
        _check_layout(message, lines, findings)
        yield from (_draft(message, signal, lines, findings) for signal in message.signals)


class _DbcLines:
    """The lines of messages and signals."""

    def __init__(self, text: str) -> None:
        """Find every `BO_` and `SG_`."""
        self.text = text.splitlines()
        self.too_long: list[tuple[int, str]] = []
        """Signals that would make cantools allocate too much memory."""
        self._lines: dict[tuple[str, str], list[int]] = {}
        message = ""
        for number, line in enumerate(self.text, start=1):
            if found := MESSAGE.match(line):
                message = found[1]
                self._lines.setdefault((message, ""), []).append(number)
            elif found := SIGNAL.match(line):
                self._lines.setdefault((message, found[1]), []).append(number)
                if found[2] and int(found[2][:DIGITS_MAX]) > BITS_MAX:
                    words = f"{message}/{found[1]}: {found[2][:DIGITS_MAX]} bits or more"
                    self.too_long.append((number, f"{words}; a message has {BITS_MAX} at most"))

    def of(self, message: str, signal: str = "") -> int:
        """The line of a signal; else that of its message; else the first line."""
        found_lines = self._lines.get((message, signal)) or self._lines.get((message, "")) or [1]
        return found_lines[0]

    def take(self, message: str, signal: str) -> int:
        """The line of a signal; for one that is defined twice, each call returns the next line."""
        found_lines = self._lines.get((message, signal), [])
        return found_lines.pop(0) if len(found_lines) > 1 else self.of(message, signal)

    def naming(self, words: str) -> int | None:
        """The first line that contains this as whole words."""
        pattern = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
        return next((at for at, line in enumerate(self.text, 1) if pattern.search(line)), None)


def _parse(text: str, lines: _DbcLines, findings: Findings) -> "Database | None":
    try:
        from cantools.database.can import Database
    except ImportError:
        findings.error(None, "reading DBC needs cantools: pip install 'slipring[dbc]'")
        return None
    logging.getLogger("cantools").addHandler(logging.NullHandler())
    database = Database(strict=False, sort_signals=None)
    try:
        database.add_dbc_string(text)
    except Exception as error:  # noqa: BLE001 (cantools raises whatever its parts raise)
        for line, words in _explained(error, lines):
            findings.error(line, words)
        return None
    return database


def _explained(error: Exception, lines: _DbcLines) -> Iterator[tuple[int | None, str]]:
    """The line and the text of each problem that cantools raised."""
    message = str(error)
    if isinstance(error, KeyError):
        name = str(error.args[0])
        yield lines.naming(name), f"{name!r} is used and not defined; define it, or remove its use"
    elif (at := getattr(error, "line", None)) is not None:
        column = getattr(error, "column", 1)
        where = lines.text[at - 1][column - 1 :][:30] if at <= len(lines.text) else ""
        known = f"no DBC from here on: {where!r}; correct it, or save it again with its tool"
        yield at, known if where else "a DBC does not end here; is the file complete?"
    elif entries := re.findall(r"^\s+((?:SIG_)?VAL\w*_ .+)$", message, re.MULTILINE):
        for entry in entries:
            yield lines.naming(entry), f"{entry} is of a signal that is not there; remove it"
    else:
        yield _named_line(message, lines), f"cantools says: {message}"


def _named_line(message: str, lines: _DbcLines) -> int | None:
    found = re.search(r"(?:signals? (\w+).*)?in\s+message (\w+)", message)
    return lines.of(found[2], found[1] or "") if found else None


def _check_layout(message: "Message", lines: _DbcLines, findings: Findings) -> None:
    """Warn of signals that overlap or exceed the message: decoders read nonsense there."""
    from cantools.database.errors import Error

    try:
        message.refresh(strict=True)
    except Error as error:
        what = str(error).removesuffix(".")
        text = f"{message.name}: {what}; correct their bits, or what is decoded is nonsense"
        findings.warning(_named_line(str(error), lines), text)


def _draft(message: "Message", signal: "Signal", lines: _DbcLines, findings: Findings) -> Draft:
    line = lines.take(message.name, signal.name)
    name = f"{message.name}/{signal.name}"
    labels = _labels(signal)
    becomes = _type(signal, labels)
    description = " ".join((signal.comment or "").split())
    if labels and becomes == "bool":
        description += f" ({', '.join(f'{one} {label}' for one, label in labels.items())})"
    elif labels and becomes != "enum":
        text = "its value table names single values of a number; it stays a number without labels"
        findings.note(line, f"{name}: {text}")
    return Draft(
        name,
        line,
        becomes,
        translation(signal.unit or "") if signal.unit else "",
        description.strip(),
        least=None if becomes in RANGELESS else signal.minimum,
        greatest=None if becomes in RANGELESS else signal.maximum,
        rate_hz=_rate_hz(message, signal),
        source=", ".join(one for one in message.senders if one != NOBODY),
        labels=_told_apart(labels) if becomes == "enum" else {},
    )


def _labels(signal: "Signal") -> dict[int, str]:
    return {int(number): str(label) for number, label in (signal.choices or {}).items()}


def _told_apart(labels: dict[int, str]) -> dict[int, str]:
    """Append the number to labels that occur twice, such as `Reserved`."""
    words = [label.strip() for label in labels.values()]
    return {
        number: word if word and words.count(word) == 1 else f"{word} {number}".strip()
        for number, word in zip(labels, words, strict=True)
    }


def _type(signal: "Signal", labels: dict[int, str]) -> str:
    """The type of a signal's decoded values."""
    scale, offset = signal.scale, signal.offset
    if signal.length > 64:
        return "bytes"
    if signal.is_float:
        return "f32" if signal.length <= 32 else "f64"
    is_raw = scale == 1 and offset == 0
    if signal.length == 1 and is_raw:
        return "bool"
    if is_raw and labels and not signal.unit and min(labels) >= 0:
        return "enum"
    least, greatest = _raw_span(signal)
    if float(scale).is_integer() and float(offset).is_integer():
        ends = (least * int(scale) + int(offset), greatest * int(scale) + int(offset))
        return _integer(min(ends), max(ends))
    steps = max(abs(least + offset / scale), abs(greatest + offset / scale)) if scale else math.inf
    return "f32" if steps <= F32_STEPS_MAX else "f64"


def _raw_span(signal: "Signal") -> tuple[int, int]:
    bits = signal.length
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signal.is_signed else (0, 2**bits - 1)


def _integer(least: int, greatest: int) -> str:
    """The smallest integer type that holds both; else a float."""
    for bits in (8, 16, 32, 64):
        if least >= 0 and greatest < 2**bits:
            return f"u{bits}"
        if least >= -(2 ** (bits - 1)) and greatest < 2 ** (bits - 1):
            return f"i{bits}"
    return "f64"


def _rate_hz(message: "Message", signal: "Signal") -> float | None:
    """From the message's cycle time; None for a multiplexed signal, which not every message has."""
    if not message.cycle_time or signal.multiplexer_ids is not None:
        return None
    return 1_000 / message.cycle_time
