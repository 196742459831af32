"""What a changed file means for a running broker: what applies now, and what needs a restart.

Pure: compares configurations, changes nothing.
"""

from dataclasses import dataclass

from pydantic import SecretStr, ValidationError

from slipring.control.config import Config
from slipring.control.journal import DurabilitySection
from slipring.control.listener import OWN_LIMITS, ListenerSection
from slipring.control.log_section import LogServerSection
from slipring.control.mistakes import explain
from slipring.control.priorities import PrioritySection
from slipring.control.section import Section
from slipring.control.users import UserSection
from slipring.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Change:
    """A key whose value has changed; None before if it is new, None after if it is gone."""

    key: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class Reload:
    """The result of reading the file again."""

    config: Config
    """What is in force from now on."""
    applied: list[Change]
    waiting: list[Change]
    """Changes that need a restart."""


def reload(running: Config, wanted: Config, *, journaling: bool) -> Reload:
    """Apply what can change while running; ConfigError if that alone would not be valid.

    `journaling` says whether the broker has a journal open.
    """
    config = _checked(_meanwhile(running, wanted, journaling=journaling))
    if running.user and not config.user and not config.allow_anonymous:
        raise ConfigError(_NOBODY_LEFT)
    return Reload(config, _changes(running, config), _changes(config, wanted))


_NOBODY_LEFT = (
    "there is no [[user]] in the file any more, and without users everyone is let in; if that is "
    "intended, write allow_anonymous = true, otherwise the file may be cut"
)
"""Mosquitto let everyone in after a password file was emptied (CVE-2018-12550)."""


def applied_text(change: Change) -> str:
    """Describe a change that is in force now."""
    if isinstance(change.before or change.after, UserSection | ListenerSection):
        return f"{change.key} {_fate(change)}"
    if isinstance(change.after, SecretStr):
        user, _, field = change.key.rpartition(": ")
        return f"{user} has another {field}"
    return f"{change.key} is {_text(change.after)} now, was {_text(change.before)}"


def audit_text(change: Change) -> str:
    """Describe a change for the audit: the same, but rules are only counted."""
    if change.key == "access.rule":
        was, now = (
            len(one) if isinstance(one, tuple) else 0 for one in (change.before, change.after)
        )
        return f"access.rule has {now} rules now, was {was}"
    return applied_text(change)


def waiting_text(change: Change) -> str:
    """Describe a change that needs a restart."""
    if isinstance(change.before or change.after, ListenerSection):
        return f"{change.key} {_fate(change)} in the file, which needs a restart"
    return (
        f"{change.key} stays {_text(change.before)} until a restart; "
        f"the file says {_text(change.after)}"
    )


JOURNAL_AT_START = ("segment_bytes", "archive", "archive_bytes_per_s")
"""Keys of the journal that need a restart."""


def _meanwhile(running: Config, wanted: Config, *, journaling: bool) -> Config:
    """The wanted configuration, with settings that need a restart left as they are."""
    sections = {
        "data": running.data,
        "threads": running.threads,
        "mqtt": wanted.mqtt.model_copy(update={"listen": running.mqtt.listen}),
        "console": running.console,
        "discovery": running.discovery,
        "audit": wanted.audit.model_copy(update={"segment_bytes": running.audit.segment_bytes}),
        "listener": tuple(_own_limits(one, wanted) for one in running.listener),
    }
    if not journaling:
        sections |= {"journal": running.journal, "durability": running.durability}
    else:
        kept = {key: getattr(running.journal, key) for key in JOURNAL_AT_START}
        sections["journal"] = wanted.journal.model_copy(update=kept)
    return wanted.model_copy(update=sections)


def _own_limits(running: ListenerSection, wanted: Config) -> ListenerSection:
    same = [one for one in wanted.listener if one.name == running.name]
    own = {key: getattr(one, key) for one in same for key in OWN_LIMITS}
    return running.model_copy(update=own)


def _checked(config: Config) -> Config:
    """Check the mixture: two safe files can make an unsafe one."""
    try:
        return Config.model_validate(config.model_dump(exclude_unset=True))
    except ValidationError as error:
        raise ConfigError(
            f"some of the changes need a restart, and the others are not valid without them: "
            f"{explain(error, Config)}"
        ) from None


def _changes(before: Config, after: Config) -> list[Change]:
    old, new = _flat(before), _flat(after)
    changes: list[Change] = []
    for key in {**old, **new}:
        was, now = old.get(key), new.get(key)
        if isinstance(was, Section) and isinstance(now, Section):
            was_keys, now_keys = dict(was), dict(now)
            changes += (
                Change(f"{key}: {name}", was_keys[name], now_keys[name])
                for name in was_keys
                if was_keys[name] != now_keys[name]
            )
        elif was != now:
            changes.append(Change(key, was, now))
    return changes


def _flat(config: Config) -> dict[str, object]:
    """Map every key to its value; listeners and users by name."""
    flat: dict[str, object] = {}
    for name, value in config:
        if isinstance(value, Section):
            flat |= {f"{name}.{key}": inner for key, inner in value}
        elif name in ("listener", "user"):
            flat |= {f"{name} '{one.name}'": one for one in value}
        else:
            flat[name] = value
    return flat


def _fate(change: Change) -> str:
    return "is new" if change.before is None else "is gone"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value)) or "empty"
    if isinstance(value, LogServerSection):
        return str(value)
    if isinstance(value, DurabilitySection | PrioritySection):
        return f"{value.level} for {' '.join(value.topics)}"
    if isinstance(value, bool):
        return str(value).lower()
    return "unset" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
