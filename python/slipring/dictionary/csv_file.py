"""Dictionaries as CSV, read and written: a row for each parameter, the columns in any order."""

import csv
import difflib
import io
import re
from collections.abc import Iterable, Iterator, Mapping

from slipring.dictionary.draft import LIMITS, Draft
from slipring.dictionary.problem import Findings
from slipring.model import Parameter

COLUMNS = (
    "name", "type", "unit", "description", "min", "max", "low", "high", "low_critical",
    "high_critical", "rate_hz", "source", "labels",
)  # fmt: skip
NEEDED = ("name", "type")
OTHER_WORDS = {
    "parameter": "name", "topic": "name", "signal": "name", "datatype": "type", "kind": "type",
    "units": "unit", "comment": "description", "desc": "description", "minimum": "min",
    "maximum": "max", "rate": "rate_hz", "frequency": "rate_hz", "hz": "rate_hz",
    "sensor": "source", "enum": "labels", "values": "labels", "warning_low": "low",
    "warning_high": "high", "lowlow": "low_critical", "highhigh": "high_critical",
    "lolo": "low_critical", "hihi": "high_critical", "lo": "low", "hi": "high",
}  # fmt: skip
"""Column names of other programs, and ours for each."""

LABEL = re.compile(r"(?:\\.|[^;\\])+")
ESCAPED = re.compile(r"\\(.)")
TO_ESCAPE = re.compile(r"([\\;])")
BACKSLASHED = r"\\\1"


def read_csv(text: str, findings: Findings) -> Iterator[Draft]:
    """The rows as drafts; a row that cannot be read is reported and left out."""
    rows = _rows(text, findings)
    line, head = next(rows, (1, []))
    columns = _columns(line, head, findings)
    if columns is None:
        return
    for line, row in rows:
        if not any(row):
            continue
        if len(row) != len(columns):
            findings.error(line, _miscount(len(row), len(columns)))
            continue
        draft = _draft(line, dict(zip(columns, row, strict=True)), findings)
        if draft is not None:
            yield draft


def write_csv(parameters: Mapping[str, Parameter]) -> str:
    """A CSV file with all columns, and a row for each parameter."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(name, parameter) for name, parameter in parameters.items())
    return out.getvalue()


def _rows(text: str, findings: Findings) -> Iterator[tuple[int, list[str]]]:
    """The rows, each with its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            text = f"this is not CSV: {error}; look for a quote that is not closed, or not doubled"
            findings.error(line, text)
            return
        yield line, [cell.strip() for cell in row]


def _columns(line: int, head: list[str], findings: Findings) -> list[str] | None:
    """The names of the columns; None if the header is wrong."""
    if not any(head):
        findings.error(line, f"there is no header; begin with {','.join(COLUMNS)}")
        return None
    if len(head) == 1 and any(sign in head[0] for sign in ";\t"):
        findings.error(line, "columns are separated by commas; save the file with commas")
        return None
    names = [name.lower() for name in head]
    problems = [
        *(_unknown(name) for name in names if name not in COLUMNS),
        *(f"column {name!r} is there twice" for name in COLUMNS if names.count(name) > 1),
        *(f"column {name!r} is missing" for name in NEEDED if name not in names),
    ]
    for problem in problems:
        findings.error(line, problem)
    return None if problems else names


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, COLUMNS, 1, 0.6)
    meant = OTHER_WORDS.get(name) or (near[0] if near else None)
    known = f"the columns are {', '.join(COLUMNS)}"
    return f"there is no column {name!r}; " + (f"write {meant}, or remove it" if meant else known)


def _miscount(cells: int, columns: int) -> str:
    hint = "put quotes around a cell that has commas" if cells > columns else "add commas"
    return f"{cells} cells, and the header has {columns}; {hint}"


def _draft(line: int, row: dict[str, str], findings: Findings) -> Draft | None:
    try:
        return Draft(
            row["name"],
            line,
            row["type"],
            row.get("unit", ""),
            row.get("description", ""),
            least=_number(row, "min"),
            greatest=_number(row, "max"),
            limits=_limits(row),
            rate_hz=_number(row, "rate_hz"),
            source=row.get("source", ""),
            labels=_labels(row.get("labels", "")),
        )
    except ValueError as error:
        findings.error(line, f"{row['name']}: {error}")
        return None


def _limits(row: dict[str, str]) -> dict[str, float]:
    numbers = {name: _number(row, name) for name in LIMITS}
    return {name: number for name, number in numbers.items() if number is not None}


def _number(row: dict[str, str], column: str) -> float | None:
    text = row.get(column, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        hint = f"write {text.replace(',', '.')}" if "," in text else "write it like 12.5"
        raise ValueError(f"{column} {text!r} is not a number; {hint}") from None
    return number


def _labels(text: str) -> dict[int, str]:
    r"""`0=off;1=on`; a semicolon in a label is written `\;`."""
    labels: dict[int, str] = {}
    for part in filter(None, (part.strip() for part in LABEL.findall(text))):
        number, equals, label = part.partition("=")
        if not equals or not number.strip().isdecimal():
            raise ValueError(f"label {part!r} is not NUMBER=LABEL; write labels like 0=off;1=on")
        if int(number) in labels:
            raise ValueError(f"labels has the number {int(number)} twice; remove one of them")
        labels[int(number)] = ESCAPED.sub(r"\1", label.strip())
    return labels


def _row(name: str, parameter: Parameter) -> Iterable[str]:
    limits = parameter.limits
    least, greatest = parameter.range or (None, None)
    cells = {
        "name": name,
        "type": parameter.type,
        "unit": parameter.unit,
        "description": parameter.description,
        "min": _written(least),
        "max": _written(greatest),
        **{limit: _written(getattr(limits, limit, None)) for limit in LIMITS},
        "rate_hz": _written(parameter.rate_hz),
        "source": parameter.source,
        "labels": _written_labels(parameter.labels or {}),
    }
    return [cells[column] or "" for column in COLUMNS]


def _written_labels(labels: Mapping[int, str]) -> str:
    return ";".join(f"{one}={TO_ESCAPE.sub(BACKSLASHED, label)}" for one, label in labels.items())


def _written(number: float | None) -> str:
    if number is None:
        return ""
    return str(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(number)
