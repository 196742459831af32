"""The parameter of each column of a file: its topic and its definition. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipring.errors import InvalidTopic, RecordingError
from slipring.frames import Table
from slipring.model import Parameter
from slipring.native import check_topic
from slipring.recording.history.read.history_file import HistoryFile


@dataclass(frozen=True)
class GivenDefinitions:
    """Definitions that do not come from the file. Of several for a parameter the first is taken."""

    types: Mapping[str, str] = field(default_factory=dict)
    """Types by column or topic, from the command line."""
    dictionary: Mapping[str, Parameter] = field(default_factory=dict)
    """Definitions by column or topic, from a dictionary."""
    table: Table = field(default_factory=Table)
    """The broker's table, in which a parameter may be declared already."""


class ImportColumns:
    """The columns of an import with their parameters, in order."""

    def __init__(self, file: HistoryFile, prefix: str, given: GivenDefinitions) -> None:
        """Raises RecordingError if a column cannot be a parameter."""
        self._file = file
        self._prefix = prefix
        topics = {column: self._topic(column) for column in file.columns}
        _refuse_twice(file.name, topics)
        _refuse_unknown(file, topics, given.types)
        found = self._known(topics, given)
        rest = [column for column in topics if column not in found]
        guessed = file.guessed(rest) if rest else {}
        self.types: dict[str, Parameter] = {
            column: found.get(column) or guessed[column]
            for column in topics
            if column in found or column in guessed
        }
        """The definition of each column that has a value."""
        self.topics: list[str] = [topics[column] for column in self.types]
        self.empty: list[str] = [column for column in topics if column not in self.types]
        if not self.types:
            raise RecordingError(f"{file.name} has no sample")

    @property
    def root(self) -> str:
        """The levels that all topics begin with; empty if there are none."""
        levels = [topic.split("/")[:-1] for topic in self.topics]
        shared = []
        for same in zip(*levels, strict=False):
            if len(set(same)) > 1:
                break
            shared.append(same[0])
        return "/".join(shared)

    def _topic(self, column: str) -> str:
        has_it = not self._prefix or column.startswith(f"{self._prefix}/")
        topic = column if has_it else f"{self._prefix}/{column}"
        try:
            check_topic(topic)
        except InvalidTopic as error:
            raise RecordingError(f"{self._file.name}: column {column!r}: {error}") from None
        return topic

    def _known(self, topics: Mapping[str, str], given: GivenDefinitions) -> dict[str, Parameter]:
        own = self._file.known()
        found = {}
        for column, topic in topics.items():
            one = _given_for(column, topic, given) or own.get(column)
            if one is not None:
                found[column] = one
        return found


def _given_for(column: str, topic: str, given: GivenDefinitions) -> Parameter | None:
    for name in (column, topic):
        if name in given.types:
            return Parameter(given.types[name])
        if name in given.dictionary:
            return given.dictionary[name]
    entry = given.table.get(topic)
    return None if entry is None else entry.parameter


def _refuse_twice(file: str, topics: Mapping[str, str]) -> None:
    columns: dict[str, str] = {}
    for column, topic in topics.items():
        if topic in columns:
            both = f"{columns[topic]!r} and {column!r}"
            raise RecordingError(f"{file}: the columns {both} are both {topic!r} with this prefix")
        columns[topic] = column


def _refuse_unknown(file: HistoryFile, topics: Mapping[str, str], types: Mapping[str, str]) -> None:
    for name in types:
        if name not in topics and name not in topics.values():
            raise RecordingError(f"{file.name} has no column {name!r}, for which a type is given")
