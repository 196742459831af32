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
from slipring.control.token_sections import IssuerSection
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
    if not config.allow_anonymous:
        refuse_opening(running, config)
    return Reload(config, changes(running, config), changes(config, wanted))


def refuse_opening(running: Config, wanted: Config) -> None:
    """Refuse to lose the last user, or the last rule.

    Mosquitto let everyone in after a password file was emptied (CVE-2018-12550).
    """
    if running.user and not wanted.user:
        raise ConfigError(_NOBODY_LEFT)
    if running.can_tell_apart and not wanted.can_tell_apart:
        raise ConfigError(_NOBODY_PROVES)
    if running.has_users and not wanted.has_users:
        raise ConfigError(_NO_RULE_LEFT)


_NOBODY_LEFT = (
    "there is no [[user]] in the file any more, and without users everyone is let in; if that is "
    "intended, write allow_anonymous = true, otherwise the file may be cut"
)
_NO_RULE_LEFT = (
    "there is no [[access.rule]] and no user any more, and without them everybody may do "
    "everything; if that is intended, write allow_anonymous = true, otherwise the file may be cut"
)


_NOBODY_PROVES = (
    "there is no [token], [[issuer]] or [hook] in the file any more, and nobody would have to "
    "prove who they are; if that is intended, write allow_anonymous = true"
)


def applied_text(change: Change) -> str:
    """Describe a change that is in force now."""
    if isinstance(change.before or change.after, UserSection | ListenerSection | IssuerSection):
        return f"{change.key} {_fate(change)}"
    if change.key == "access.rule":
        return f"access: {rules_text(change.before, change.after)}"
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


CONSOLE_ANY_TIME = ("source", "mark")
"""Keys of the console that apply while it runs."""
JOURNAL_AT_START = ("segment_bytes", "archive", "archive_bytes_per_s")
"""Keys of the journal that need a restart."""


def _meanwhile(running: Config, wanted: Config, *, journaling: bool) -> Config:
    """The wanted configuration, with settings that need a restart left as they are."""
    sections = {
        "data": running.data,
        "threads": running.threads,
        "core_dumps": running.core_dumps,
        "mqtt": wanted.mqtt.model_copy(update={"listen": running.mqtt.listen}),
        "console": running.console.model_copy(
            update={key: getattr(wanted.console, key) for key in CONSOLE_ANY_TIME}
        ),
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
    # Users and rules have been checked one by one, and there may be very many.
    checked = {"user": config.user, "access": config.access}
    values = config.model_dump(exclude_unset=True, exclude=set(checked)) | checked
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(
            f"some of the changes need a restart, and the others are not valid without them: "
            f"{explain(error, Config)}"
        ) from None


def changes(before: Config, after: Config) -> list[Change]:
    """Every key whose value differs."""
    old, new = _flat(before), _flat(after)
    found: list[Change] = []
    for key in {**old, **new}:
        was, now = old.get(key), new.get(key)
        if isinstance(was, Section) and isinstance(now, Section):
            # By their iterators: a section may have a key that is called `keys`.
            was_keys, now_keys = dict(iter(was)), dict(iter(now))
            found += (
                Change(f"{key}: {name}", was_keys.get(name), now_keys.get(name))
                for name in {**was_keys, **now_keys}
                if was_keys.get(name) != now_keys.get(name)
            )
        elif was != now:
            found.append(Change(key, was, now))
    return found


def _flat(config: Config) -> dict[str, object]:
    """Map every key to its value; listeners and users by name."""
    flat: dict[str, object] = {}
    for name, value in config:
        if isinstance(value, Section):
            flat |= {f"{name}.{key}": inner for key, inner in value}
        elif name in ("listener", "user", "issuer"):
            flat |= {f"{name} '{one.name}'": one for one in value}
        else:
            flat[name] = value
    return flat


def rules_text(before: object, after: object) -> str:
    """How many rules are new, and how many are gone: there may be very many."""
    was, now = (set(rules) if isinstance(rules, tuple) else set() for rules in (before, after))
    new, gone = len(now - was), len(was - now)
    return f"{new} {_rules(new)} new, {gone} {_rules(gone)} gone"


def _rules(count: int) -> str:
    return "rule is" if count == 1 else "rules are"


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
