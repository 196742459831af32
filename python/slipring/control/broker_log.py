"""The log of a running broker: levels by room, which can change at any time, and log servers."""

import logging

from slipring.control.audit import AuditLine
from slipring.control.event_kinds import KINDS, LEVELS, ROOMS, LogLevel, Room
from slipring.control.events import EventEntry
from slipring.control.log_section import LogSection, LogServerSection
from slipring.errors import ConfigError
from slipring.logs.line import LogSource
from slipring.logs.server import LogServer, LogServerFigures
from slipring.logs.sinks import LogSink, make_sink
from slipring.native import Engine

ALL = "all"
"""In place of a room: every room, and what belongs to none."""
NUMBERS: dict[str, int] = {name: logging.getLevelNamesMapping()[name.upper()] for name in LEVELS}

log: logging.Logger = logging.getLogger("slipring.broker")


class BrokerLog:
    """Writes events to the logger of their room. Those that would not be written are not made."""

    def __init__(self, broker: str, engine: Engine) -> None:
        """Write nothing yet; `apply` says what."""
        self._source = LogSource.here(broker)
        self._engine = engine
        self._burst = 1
        self._levels: dict[Room, LogLevel] = {}
        self._servers: dict[str, LogServer] = {}
        self._configured: dict[str, LogServerSection] = {}

    def apply(self, wanted: LogSection) -> None:
        """Take levels and servers from the file; ConfigError if a server cannot be used."""
        configured = {str(section): section for section in wanted.server}
        same = {name for name, one in configured.items() if self._configured.get(name) == one}
        sinks = {name: self._sink(one) for name, one in configured.items() if name not in same}
        root = logging.getLogger()
        for name in self._servers.keys() - same:
            server = self._servers.pop(name)
            root.removeHandler(server)
            server.end()
        for name, sink in sinks.items():
            self._servers[name] = LogServer(name, sink, NUMBERS[configured[name].level])
            root.addHandler(self._servers[name])
        self._configured, self._burst = configured, wanted.burst
        logging.getLogger("slipring").setLevel(logging.NOTSET)  # what an operator set
        self._set({room: wanted.level_of(room) for room in ROOMS})
        self._engine.want_audit(bool(self._servers))

    def set_level(self, room: str, wanted: str) -> None:
        """Set the least important level of a room, or of `all`; ConfigError if there is none."""
        if room not in (*ROOMS, ALL):
            raise ConfigError(f"there is no room '{room}' in the log, only {', '.join(ROOMS)}, all")
        level = next((one for one in LEVELS if one == wanted), None)
        if level is None:
            raise ConfigError(f"'{wanted}' is no level; there are {', '.join(LEVELS)}")
        if room == ALL:
            logging.getLogger("slipring").setLevel(NUMBERS[level])
        chosen = [one for one in ROOMS if room in (one, ALL)]
        self._set(self._levels | dict.fromkeys(chosen, level))
        log.info("log: the level of %s is %s now, until the file is read again", room, level)

    def write(self, entry: EventEntry) -> None:
        """Write an event, if its room wants it."""
        more = {"at_ns": entry.at_ns, "entry": entry}
        _logger(entry.room).log(NUMBERS[entry.level], "%s", entry.text, extra=more)

    def write_audit(self, line: AuditLine) -> None:
        """Send a record of the audit to the log servers; it is not for the log on this machine."""
        more = {"name": "slipring.audit", "levelno": logging.INFO, "levelname": "INFO"}
        record = logging.makeLogRecord({**more, "msg": line.text, "at_ns": line.at_ns})
        record.entry = line
        for server in self._servers.values():
            if record.levelno >= server.level:
                server.handle(record)

    @property
    def levels(self) -> dict[Room, LogLevel]:
        """The least important level of each room that is written."""
        return dict(self._levels)

    @property
    def servers(self) -> list[LogServerFigures]:
        """What the log servers got."""
        return [server.figures() for server in self._servers.values()]

    def finish(self) -> None:
        """Send the last lines to the servers, within a bounded time."""
        for server in self._servers.values():
            logging.getLogger().removeHandler(server)
            server.end()
        for server in self._servers.values():
            server.join()

    def _set(self, levels: dict[Room, LogLevel]) -> None:
        self._levels = levels
        for room, level in levels.items():
            _logger(room).setLevel(NUMBERS[level])
        wanted = [
            name
            for name, kind in KINDS.items()
            if kind.is_frequent and kind.is_written(levels[kind.room])
        ]
        self._engine.want_events(wanted, self._burst)

    def _sink(self, section: LogServerSection) -> LogSink:
        headers = {name: value.get_secret_value() for name, value in section.headers.items()}
        return make_sink(section.kind, section.address, headers, self._source, section.ca)


def _logger(room: str) -> logging.Logger:
    return logging.getLogger(f"slipring.room.{room}")
