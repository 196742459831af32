"""A past for tests: random samples in a journal, some of them in a lake, the newest in a table."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from slipring.history import History
from slipring.history.question import KnownParameter
from slipring.history.table_part import TableNow
from slipring.journal.known_parameters import KnownParameters
from slipring.journal.location import Journal, JournalFolder
from slipring.journal.samples import JournalSamples
from slipring.lake.files import constant, write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.model import Kind
from slipring.native import encode_frame
from slipring.pipeline.rollup import Rollup
from slipring.pipeline.rollup_section import RollupSection
from slipring.pipeline.steps.partial_rows import partials_of
from tests.recording.history.sample_journals import FRAME_PROPERTIES, journal

START_NS = 1_767_322_800_000_000_000
SECOND_NS = 1_000_000_000
NAMES = ("plane/a", "plane/b", "plane/text")
TYPES = ("f64", "f64", "text")
KNOWN = {name: KnownParameter(type_) for name, type_ in zip(NAMES, TYPES, strict=True)}
TABLE = 7
AT_ONCE = RollupSection(minutes_every=0, hours_every=0)


class Sampled(NamedTuple):
    """One sample; `place` is that of its name."""

    place: int
    time_ns: int
    value: Any
    quality: int = 0

    @property
    def counts(self) -> bool:
        """Whether it is shown: bad and stale ones are not, nor what is not a number."""
        return self.quality < 128 and self.value == self.value


def known_parameters() -> KnownParameters:
    rows = [
        {"index": index, "name": name, "type": type_, "since": 0, "since_ns": 0, "until": None}
        for index, (name, type_) in enumerate(zip(NAMES, TYPES, strict=True))
    ]
    listed = {"table": TABLE, "revision": 0, "epoch": 0, "versions": rows}
    return KnownParameters.of_json(json.dumps(listed))


def write_journal(folder: Path, messages: Sequence[Sequence[Sampled]]) -> Path:
    """A frame for each list; it is received just after its newest sample."""
    rows = []
    for samples in messages:
        received = max((one.time_ns for one in samples), default=START_NS) + 1_000
        runs: list[Any] = [
            ("samples", int(Kind.of_word(TYPES[index])), own)
            for index in range(len(NAMES))
            if (
                own := [(*one[:2], one.quality, one.value) for one in samples if one.place == index]
            )
        ]
        frame = encode_frame(runs, table=TABLE, sequence=1, sent_ns=0)
        rows.append((received, "plane", "plane", 1, FRAME_PROPERTIES, frame))
    return journal(folder, rows)


def _given(sample: Sampled) -> tuple[int, int, int, Any]:
    return sample.place, sample.time_ns, sample.quality, sample.value


class MadePast:
    """A journal, and what tests put into a lake and into the table."""

    def __init__(self, folder: Path, messages: Sequence[Sequence[Sampled]]) -> None:
        self.lake = LakeLocation.of(folder / "lake")
        self.journal = write_journal(folder, messages)
        self.newest: dict[str, Sampled] = {}
        location = JournalFolder(str(self.journal))
        self.located = Journal(location, location.open().identity)

    def history(self, *, has_journal: bool = True, has_lake: bool = True) -> History:
        lake = self.lake if has_lake else None
        return History(TableNow(self.ask), self.journal if has_journal else None, lake)

    def ask(self, name: str, body: bytes) -> bytes:
        """As the engine's table answers."""
        asked = json.loads(body)
        if name == "values":
            values = [
                {"name": one, "value": sample.value, "time": sample.time_ns, "quality": "good"}
                for one, sample in self.newest.items()
                if one in asked["names"]
            ]
            return json.dumps({"values": values, "next": None}).encode()
        rows = [
            {"name": one, "type": KNOWN[one].type} for one in NAMES if one == asked.get("filter")
        ]
        return json.dumps({"table": 7, "revision": 1, "parameters": rows}).encode()

    def archive(self, end: int, begin: int = 0) -> None:
        """Bring the samples of the messages [begin, end) into the lake."""
        table = LakeTable.open(self.lake, SAMPLES)
        files = []
        for batch in JournalSamples(self.located).sorted_batches(begin, end):
            whole = batch.append_column("journal", constant(self.located.identity, len(batch)))
            files += write_file(self.lake, SAMPLES, [whole])
        table.commit(files, {app_id(self.located.identity): end})

    def roll_up(self, end: int) -> None:
        """Bring the windows of the messages before `end` into the lake."""
        every = [*JournalSamples(self.located).batches(0, end)]
        samples = pa.Table.from_batches(every) if every else None

        def rows_of(_start: int, _end: int) -> pa.Table:
            return partials_of(samples, SECOND_NS)

        if samples is not None:
            Rollup(self.lake, self.located.identity, AT_ONCE).write(rows_of, 0, end)
