"""Mosquitto's files of rights and passwords as TOML for the folder of rules. Pure.

Mosquitto looks at the rules of a user first, those that deny before those that allow, and at
patterns only if none of them matched. Here a rule that denies always wins. The two differ only
where a pattern denies what a user's own rule allows; that is told.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from shlex import quote

from slipring.control.access import TOPICS_MAX
from slipring.control.access_grants import rule_of
from slipring.errors import ConfigError

READ, WRITE = ("subscribe",), ("publish", "retain")
RIGHTS_OF: dict[str, tuple[str, ...]] = {
    "read": READ,
    "write": WRITE,
    "readwrite": (*WRITE, *READ),
    "deny": ("all",),
}
ANONYMOUS, EVERYBODY = "anonymous", "anyone"
SPACES = " \t\n\v\f\r"
COMMAND = "slipring access users add"


@dataclass(frozen=True, slots=True)
class ImportedAccess:
    """What was found, as TOML, and what was not taken over."""

    toml: str
    notes: list[str]


@dataclass(slots=True)
class _Reading:
    """What was read so far: topics by who and access, in the order in which they came."""

    who: str | None = ANONYMOUS
    """None after a line that could not be read: the topics that follow belong to nobody."""
    topics: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def imported(acl: str, passwords: str = "") -> ImportedAccess:
    """Read both files."""
    reading = _Reading()
    for number, line in enumerate(acl.split("\n"), 1):
        _take(reading, number, line)
    if any(who == EVERYBODY and access == "deny" for who, access in reading.topics):
        reading.notes.append(
            "a pattern denies: here it also wins over what a user's own topic lines allow, in "
            "Mosquitto it does not"
        )
    reading.notes += _of_passwords(passwords)
    return ImportedAccess(_toml(reading), reading.notes)


def _take(reading: _Reading, number: int, line: str) -> None:
    # Mosquitto cuts every kind of space from the end, and only spaces from the beginning.
    if not line.rstrip(SPACES) or line.startswith("#"):
        return
    word, _, rest = line.rstrip(SPACES).lstrip(" ").partition(" ")
    rest = rest.lstrip(" ")
    if word == "user" and rest:
        reading.who = f"user:{rest}"
    elif word in ("topic", "pattern") and rest:
        _take_topic(reading, number, word, rest)
    else:
        if word not in ("topic", "pattern"):
            reading.who = None  # perhaps it named the next user
        reading.notes.append(f"line {number} is not taken over, it is none of an ACL file: {line}")


def _take_topic(reading: _Reading, number: int, word: str, rest: str) -> None:
    access, space, topic = rest.partition(" ")
    if not space:
        access, topic = "readwrite", rest
    who = EVERYBODY if word == "pattern" else reading.who
    if who is None:
        reading.notes.append(f"line {number} is not taken over: it is not certain whose it is")
        return
    topic = _escaped(topic.lstrip(" "), has_placeholders=word == "pattern")
    try:
        rule_of([who], [topic], allow=RIGHTS_OF[access])
    except KeyError:
        refused = f"'{access}' is not read, write, readwrite or deny"
        reading.notes.append(f"line {number} is not taken over: {refused}")
        return
    except ConfigError as error:
        reading.notes.append(f"line {number} is not taken over: {error}")
        return
    reading.topics.setdefault((who, access), []).append(topic)


def _escaped(topic: str, *, has_placeholders: bool) -> str:
    """The topic with every percent sign doubled that is one here and none in Mosquitto."""
    doubled = topic.replace("%", "%%")
    if has_placeholders:
        doubled = doubled.replace("%%u", "%u").replace("%%c", "%c")
    return doubled


def _of_passwords(passwords: str) -> Iterator[str]:
    for number, line in enumerate(passwords.splitlines(), 1):
        name, colon, kept = line.partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not colon or not name:
            yield f"line {number} of the password file is not taken over: it names no user"
            continue
        kind = _kind(kept)
        yield (
            f"the password of {name!r} is not taken over: {kind} cannot become a SCRAM-SHA-256 "
            f"verifier; set a new one: {COMMAND} {quote(name)}"
        )


def users_of(passwords: str) -> Iterator[tuple[str, str]]:
    """The users of a password file, and what is stored for each, in words."""
    for line in passwords.splitlines():
        name, colon, kept = line.partition(":")
        if name and colon and not line.startswith("#"):
            yield name, _kind(kept)


def _kind(kept: str) -> str:
    if kept.startswith("$7$"):
        return "a PBKDF2-SHA512 hash"
    if kept.startswith("$6$"):
        return "a SHA512 hash"
    return "what is stored"


def _toml(reading: _Reading) -> str:
    """The rules, those that deny first: a file that is cut loses its end."""
    rules = sorted(reading.topics.items(), key=lambda one: one[0][1] != "deny")
    parts = ["# From a Mosquitto ACL file.\n"]
    for (who, access), topics in rules:
        unique = list(dict.fromkeys(topics))
        starts = range(0, len(unique), TOPICS_MAX)
        parts += (_rule(who, access, unique[start : start + TOPICS_MAX]) for start in starts)
    return "\n".join(parts)


def _rule(who: str, access: str, topics: list[str]) -> str:
    verb = "deny" if access == "deny" else "allow"
    listed = "".join(f"    {toml_text(topic)},\n" for topic in topics)
    rights = ", ".join(map(toml_text, RIGHTS_OF[access]))
    return (
        f"[[access.rule]]\nwho = [{toml_text(who)}]\n{verb} = [{rights}]\ntopics = [\n{listed}]\n"
    )


def toml_text(text: object) -> str:
    """A value as TOML, which refuses a control character that JSON takes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
