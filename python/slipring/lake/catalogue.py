"""`<lake>/catalogue.json`: which tables there are, what is in them, and how others read them.

The tables themselves are the truth; a catalogue that is lost or old is written again.
"""

# ruff: noqa: S608 (SQL for people to type)

import json
import uuid
from contextlib import suppress
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow import fs

from slipring.lake.column_notes import TABLE_NOTES, column_note
from slipring.lake.storage import LakeLocation

CATALOGUE = "catalogue.json"
FORMAT = 1
LOG = "_delta_log"
ATTEMPTS = 3
"""Two that create tables at once may write the catalogue without the other's; they look again."""


def read_catalogue(lake: LakeLocation) -> dict[str, Any]:
    """The catalogue; empty if there is none, or none that can be read."""
    try:
        with lake.filesystem().open_input_stream(CATALOGUE) as file:
            found = json.loads(file.read())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def note_table(lake: LakeLocation, name: str, delta: DeltaTable) -> None:
    """Write the catalogue if it does not describe this table as it is now."""
    described = _described(name, delta)
    for _ in range(ATTEMPTS):
        if read_catalogue(lake).get("tables", {}).get(name) == described:
            return
        _write(lake, catalogue_of(lake))


def catalogue_of(lake: LakeLocation) -> dict[str, Any]:
    """The catalogue of the tables that are there."""
    options, tables = lake.delta_options(), {}
    for name in table_names(lake):
        # A table that is being created or removed now is noted by the next who opens one.
        with suppress(DeltaError):
            delta = DeltaTable(lake.child(name).uri, storage_options=options)
            tables[name] = _described(name, delta)
    return {"format": FORMAT, "lake": lake.uri, "read": _ways(lake), "tables": tables}


def table_names(lake: LakeLocation) -> list[str]:
    """The folders of a lake that are Delta tables; raises FileNotFoundError if it is not there."""
    files = lake.filesystem()
    found = files.get_file_info(fs.FileSelector(""))
    folders = [one.base_name for one in found if one.type == fs.FileType.Directory]
    logs = files.get_file_info([f"{name}/{LOG}" for name in folders])
    is_table = [one.type == fs.FileType.Directory for one in logs]
    return sorted(name for name, is_one in zip(folders, is_table, strict=True) if is_one)


def _described(name: str, delta: DeltaTable) -> dict[str, Any]:
    fields = json.loads(delta.schema().to_json())["fields"]
    return {
        "location": name,
        "format": "delta",
        "description": TABLE_NOTES.get(name, ""),
        "partition_by": delta.metadata().partition_columns,
        "columns": [
            {
                "name": field["name"],
                "type": field["type"],
                "nullable": field["nullable"],
                "description": column_note(name, field["name"]),
            }
            for field in fields
        ],
    }


def _ways(lake: LakeLocation) -> dict[str, str]:
    """How programs read a table; TABLE stands for its name."""
    table = f"{lake.uri}/TABLE"
    return {
        "slipring": f'slipring query --lake {lake.uri} "SELECT * FROM TABLE LIMIT 10"',
        "python": f'slipring.lake.open("{lake.uri}").table("TABLE").to_arrow()',
        "pandas": f'deltalake.DeltaTable("{table}").to_pandas()',
        "polars": f'polars.scan_delta("{table}")',
        "duckdb": f"INSTALL delta; LOAD delta; SELECT * FROM delta_scan('{table}')",
        "spark": f'slipring.spark.tables(spark, "{lake.uri}"); spark.table("TABLE")',
        "spark with Delta's jar": f'spark.read.format("delta").load("{table}")',
        "trino": "CALL delta.system.register_table(schema_name => 'default', "
        f"table_name => 'TABLE', table_location => '{table}')",
    }


def _write(lake: LakeLocation, content: dict[str, Any]) -> None:
    """Replace the file at once: nobody reads half of one."""
    text = json.dumps(content, indent=1).encode() + b"\n"
    if not lake.is_local:
        with lake.filesystem().open_output_stream(CATALOGUE) as file:
            file.write(text)
        return
    unfinished = lake.path / f".{CATALOGUE}.{uuid.uuid4().hex}"
    try:
        unfinished.write_bytes(text)
        unfinished.replace(lake.path / CATALOGUE)
    finally:
        unfinished.unlink(missing_ok=True)
