"""The kinds of events: the room and the level of each, and how it is written."""

from dataclasses import dataclass
from typing import Literal, get_args

LogLevel = Literal["debug", "info", "warning", "error"]
Room = Literal[
    "connections", "access", "subscriptions", "messages", "requests", "journal", "broker"
]
LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
ROOMS: tuple[Room, ...] = get_args(Room)


@dataclass(frozen=True, slots=True)
class EventKind:
    """How events of one kind are written."""

    room: Room
    level: LogLevel
    verb: str
    """Comes between the client's name and the topic or the detail."""
    more: str
    """Comes after a number: what else of this kind happened."""
    is_frequent: bool = False
    """Whether it can happen for each message or request: then the engine makes such events only
    while they are written."""

    def is_written(self, least: LogLevel) -> bool:
        """Whether it is important enough where this is the least important level."""
        return LEVELS.index(self.level) >= LEVELS.index(least)


def _of_each(room: Room, level: LogLevel, verb: str, more: str) -> EventKind:
    return EventKind(room, level, verb, more, is_frequent=True)


KINDS = {
    "connected": EventKind("connections", "info", "connected ", "more clients connected"),
    "disconnected": EventKind("connections", "info", "disconnected: ", "more clients disconnected"),
    "refused": EventKind("connections", "warning", "refused: ", "more connections were refused"),
    "expired": EventKind("connections", "info", "expired: ", "more sessions expired"),
    "ended": EventKind("connections", "info", "ended: ", "more sessions were ended"),
    "authenticated": EventKind(
        "access", "debug", "is authenticated ", "more clients were authenticated"
    ),
    "authentication refused": EventKind(
        "access", "warning", "is not authenticated: ", "more clients were not authenticated"
    ),
    "unauthorized": EventKind(
        "access", "warning", "has no right to ", "more clients did what they have no right to"
    ),
    "rights changed": EventKind("access", "info", "", "more changes of rights"),
    "rights kept": EventKind("access", "error", "", "times the files of rules were refused"),
    "quota": EventKind("access", "warning", "reached a quota: ", "more clients reached a quota"),
    "read": _of_each("access", "debug", "read ", "more reads"),
    "subscribed": EventKind(
        "subscriptions", "debug", "subscribed ", "more subscriptions were made"
    ),
    "unsubscribed": EventKind(
        "subscriptions", "debug", "unsubscribed ", "more subscriptions were ended"
    ),
    "subscription refused": EventKind(
        "subscriptions", "warning", "subscription refused: ", "more subscriptions were refused"
    ),
    "not subscribed": EventKind(
        "subscriptions", "info", "unsubscribed, but had not subscribed ", "more had not subscribed"
    ),
    "message received": _of_each("messages", "debug", "published ", "more messages were received"),
    "message stored": _of_each(
        "messages", "debug", "has a message stored: ", "more messages were stored"
    ),
    "message restored": _of_each(
        "messages", "debug", "has messages again: ", "more messages were restored"
    ),
    "message delivered": _of_each("messages", "debug", "got ", "more messages were delivered"),
    "message not delivered": _of_each(
        "messages", "warning", "did not deliver ", "more messages were not delivered"
    ),
    "message discarded": _of_each(
        "messages", "warning", "discarded ", "more messages were discarded"
    ),
    "publish refused": EventKind(
        "messages", "warning", "publish refused: ", "more clients were refused samples"
    ),
    "dropped": EventKind("messages", "warning", "lost ", "more clients lost messages"),
    "victims": EventKind(
        "messages", "warning", "published ", "more publishers lost stored messages"
    ),
    "request received": _of_each("requests", "debug", "asked ", "more requests were received"),
    "request refused": _of_each(
        "requests", "debug", "request refused: ", "more requests were refused"
    ),
    "request stored": _of_each(
        "requests", "debug", "has a request stored: ", "more requests were stored"
    ),
    "request restored": _of_each(
        "requests", "debug", "has a request again: ", "more requests were restored"
    ),
    "request delivered": _of_each(
        "requests", "debug", "was given ", "more requests were delivered"
    ),
    "request retried": _of_each(
        "requests", "debug", "has another service: ", "more requests went to another service"
    ),
    "part received": _of_each(
        "requests", "debug", "answered a part of ", "more parts were received"
    ),
    "answer received": _of_each("requests", "debug", "answered ", "more answers were received"),
    "answer stored": _of_each(
        "requests", "debug", "has an answer stored: ", "more answers were stored"
    ),
    "answer restored": _of_each(
        "requests", "debug", "has an answer again: ", "more answers were restored"
    ),
    "answer delivered": _of_each(
        "requests", "debug", "got the answer to ", "more answers were delivered"
    ),
    "answer discarded": _of_each(
        "requests", "debug", "answered to nothing: ", "more answers were discarded"
    ),
    "request cancelled": _of_each(
        "requests", "debug", "cancelled ", "more requests were cancelled"
    ),
    "request timed out": _of_each(
        "requests", "debug", "got no answer in time: ", "more requests timed out"
    ),
    "request failed": _of_each("requests", "debug", "got a failure: ", "more requests failed"),
    "request not delivered": _of_each(
        "requests", "debug", "found no service: ", "more requests were not delivered"
    ),
    "answer not delivered": _of_each(
        "requests", "debug", "cannot get the answer to ", "more answers were not delivered"
    ),
    "request dropped": _of_each(
        "requests", "warning", "lost the request ", "more requests were dropped"
    ),
    "failed": EventKind("journal", "error", "failed: ", "more failures"),
    "trouble": EventKind("journal", "error", "is in trouble: ", "more troubles of the journal"),
    "full": EventKind("journal", "error", "", "times the journal was full"),
    "healed": EventKind("journal", "info", "", "times the journal had room again"),
    "unarchived": EventKind("journal", "error", "", "times the archive failed"),
    "archiving": EventKind("journal", "info", "", "times the archive went on"),
    "budget": EventKind("broker", "info", "", "more changes of the memory budget"),
    "notice": EventKind("broker", "info", "says: ", "more notices to the broker"),
    "restarted": EventKind(
        "broker", "error", "was started again: ", "more tasks were started again"
    ),
    "alarm began": EventKind("broker", "warning", "", "more alarms began"),
    "alarm ended": EventKind("broker", "info", "", "more alarms ended"),
    "panicked": EventKind(
        "broker",
        "error",
        "was disconnected after a panic: ",
        "more clients were disconnected after a panic",
    ),
    "silent": EventKind("broker", "error", "", "times the engine did not answer"),
    "answers": EventKind("broker", "info", "", "times the engine answered again"),
    "lost": EventKind("broker", "warning", "", "events were lost: too many at once"),
}
"""Every kind of event. `lost` counts events that were not fetched in time. The control plane itself
notices `full`, `healed`, `silent`, `answers`, `unarchived`, `archiving`, `rights changed`,
`rights kept`, `alarm began` and `alarm ended`; the others come from the engine."""
