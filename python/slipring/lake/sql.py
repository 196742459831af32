"""SQL over tables of the lake, run by DataFusion. Refuses every statement that could write."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import QueryBuilder
from deltalake.exceptions import DeltaError

from slipring.errors import LakeError
from slipring.model.nearest import nearest_name

if TYPE_CHECKING:
    from slipring.lake.snapshot import TableSnapshot

QUESTIONS = ("select", "with", "explain", "describe", "show", "values")
"""How a statement begins that only reads."""
SETTINGS = {"datafusion.catalog.information_schema": "true"}
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_EXPLAIN = re.compile(r"explain\s+((analyze|verbose)\s+|format\s+\w+\s+)*", re.IGNORECASE)
"""It runs what follows, with ANALYZE."""
_NESTED = re.compile(r"/\*(?:(?!\*/).)*/\*", re.DOTALL)
_UNKNOWN_TABLE = re.compile(r"table '(?:\w+\.)*(\w+)' not found")
_UNKNOWN_COLUMN = re.compile(r"No field named (\S+?)\.?(?:\s|$)")
_ALL_TABLES = re.compile(r"\b(show\s+tables|information_schema)\b", re.IGNORECASE)


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column's name as SQL writes it; some are words of SQL, such as first and offset."""
    return '"' + name.replace('"', '""') + '"'


def named_tables(sql: str, names: Sequence[str]) -> list[str]:
    """The tables that a statement may mean: opening one takes time, and a lake has many."""
    if _ALL_TABLES.search(sql):
        return list(names)
    words = set(re.findall(r"\w+", sql.lower()))
    return [name for name in names if name.lower() in words]


def run_sql(
    sql: str, tables: "Sequence[TableSnapshot]", names: Sequence[str]
) -> pa.RecordBatchReader:
    """The rows, batch by batch. `names` are all tables, for the words of an error."""
    _refuse_writing(sql)
    session = QueryBuilder(SETTINGS)
    for table in tables:
        session.register(table.name, table.delta)
    try:
        found = pa.RecordBatchReader.from_stream(session.execute(sql))
    except DeltaError as error:
        raise _explained(error, names) from None
    schema = plain_schema(found.schema)
    return pa.RecordBatchReader.from_batches(schema, _plain_batches(found, schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The types that every program reads, instead of views and dictionaries."""
    return pa.schema([one.with_type(_plain_type(one.type)) for one in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def _plain_batches(found: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    try:
        for batch in found:
            yield batch.cast(schema)
    except (OSError, pa.ArrowException) as error:  # fails while it reads, in Arrow's own stream
        raise LakeError(_first_lines(str(error))) from None


def _refuse_writing(sql: str) -> None:
    """DataFusion could also write files: COPY, and others that begin with other words."""
    without_texts = re.sub(r"'[^']*'", "''", sql)
    if _NESTED.search(without_texts):
        raise LakeError("a comment within a comment is not allowed in a query")
    for text in (sql, without_texts):  # a quote in a comment must not hide how it begins
        begin = _EXPLAIN.sub("", _COMMENT.sub(" ", text).strip()).strip("( \n\t").split(maxsplit=1)
        if not begin or begin[0].lower() not in QUESTIONS:
            said = f"begins with {begin[0]}" if begin else "is empty"
            allowed = ", ".join(word.upper() for word in QUESTIONS)
            raise LakeError(f"the statement {said}; a query begins with one of {allowed}")


def _explained(error: Exception, names: Sequence[str]) -> LakeError:
    text = str(error)
    if found := _UNKNOWN_TABLE.search(text):
        return LakeError(unknown_table(found[1], names))
    if found := _UNKNOWN_COLUMN.search(text):
        valid = re.findall(r"\w+\.(\w+)[,.]", text.partition("Valid fields are")[2])
        near = nearest_name(found[1].rpartition(".")[2].strip('"'), valid)
        meant = f"; did you mean {near}?" if near else ""
        there = f"; there are {', '.join(dict.fromkeys(valid))}" if valid else ""
        return LakeError(f"there is no column {found[1]}{meant}{there}")
    return LakeError(_first_lines(text))


def unknown_table(name: str, names: Sequence[str]) -> str:
    """What a person is told who named a table that is not there."""
    near = nearest_name(name, names)
    meant = f"; did you mean {near}?" if near else ""
    there = f"there are {', '.join(names)}" if names else "the lake has no table yet"
    return f"there is no table {name}{meant}; {there}"


def _first_lines(text: str) -> str:
    """The error in one line, without the trace of Rust."""
    head = text.partition("Backtrace")[0].partition("backtrace")[0]
    return " ".join(head.split())[:500]
