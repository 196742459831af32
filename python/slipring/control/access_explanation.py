"""Why somebody may do something, or may not: the rule that decided, and the others. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal

from slipring.control.access import RIGHTS, RuleSection
from slipring.control.access_changes import rule_words
from slipring.control.access_merge import built_in_rules, named_rules
from slipring.control.config import Config
from slipring.errors import ConfigError
from slipring.native import Plan, access_rules_covering

RULES_SHOWN = 100
RULES_AT_ONCE = 1_000
"""Rules that are looked at in one call, so that other threads run in between."""
WILDCARDS = ("+", "#")
Extent = Literal["whole", "part", "nothing"]


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """Whether somebody may do something."""

    user: str | None
    """None is a client that has proved no name."""
    right: str
    topic: str
    """A topic; for `subscribe` and `select` it may be a filter."""
    roles: tuple[str, ...] = ()
    """Roles that a token gives, beside those of the user."""
    claims: tuple[tuple[str, str], ...] = ()
    client: str = ""


@dataclass(frozen=True, slots=True)
class AccessExplanation:
    """The answer, and where it comes from."""

    is_allowed: bool
    extent: Extent
    """How much of a filter; of a topic `whole` or `nothing`."""
    rule: dict[str, Any] | None
    """The rule that decided; None if no rule is about it, or several cut a filter."""
    others: list[dict[str, Any]] = field(default_factory=list)
    """All other rules about it, the first hundred."""
    notes: list[str] = field(default_factory=list)
    """What else a person should know, and what would be needed."""


NamedRule = tuple[str, RuleSection]
AboutIt = tuple[str, RuleSection, bool]
"""A rule with its name, and whether it is about all of a filter, not only about a part."""
SHARE = "$share/"
ANONYMOUS_STAYS_OUT = (
    "clients without a name are not let in here; with allow_anonymous = true they would be"
)


def explain_access(config: Config, plan: Plan, question: AccessQuestion) -> AccessExplanation:
    """Answer a question; ConfigError if it is none."""
    _check(question)
    question = _of_group(question)
    if not config.has_users:
        text = "there are no users and no rules: everybody who can connect may do everything"
        return AccessExplanation(is_allowed=True, extent="whole", rule=None, notes=[text])
    own = next((user for user in config.user if user.name == question.user), None)
    planned = own.roles if own else ()
    roles = list(dict.fromkeys((*planned, *question.roles)))
    about = list(_about(config, question, roles))
    extent, decided = _decided(config, plan, question, about)
    others = [rule_row(name, rule) for name, rule, _ in about if name != decided]
    notes = [] if own or question.user is None else [_unknown(question.user)]
    if question.user is None and config.can_tell_apart and not config.allow_anonymous:
        notes.append(ANONYMOUS_STAYS_OUT)
    if extent != "whole":
        notes += _needed(config, question, roles, [name for name, rule, _ in about if rule.deny])
    return AccessExplanation(
        is_allowed=extent == "whole",
        extent=extent,
        rule=next((rule_row(name, rule) for name, rule, _ in about if name == decided), None),
        others=others[:RULES_SHOWN],
        notes=notes,
    )


def rule_row(name: str, rule: RuleSection) -> dict[str, Any]:
    """A rule for people and programs."""
    verb = {"allow": rule.allow} if rule.allow else {"deny": rule.deny}
    words = rule_words(rule)
    return {"name": name, "who": rule.who, **verb, "topics": rule.topics, "text": words}


def _check(question: AccessQuestion) -> None:
    if question.right not in RIGHTS:
        raise ConfigError(f"'{question.right}' is no right: {', '.join(RIGHTS)}")
    if not question.topic:
        raise ConfigError("name a topic")


def _of_group(question: AccessQuestion) -> AccessQuestion:
    """A member of a shared group needs the right on the filter behind the group's name."""
    if not question.topic.startswith(SHARE):
        return question
    filter_ = question.topic.removeprefix(SHARE).partition("/")[2]
    if not filter_:
        raise ConfigError(f"'{question.topic}' names no filter: write {SHARE}GROUP/FILTER")
    return replace(question, topic=filter_)


def _is_filter(question: AccessQuestion) -> bool:
    return any(sign in question.topic for sign in WILDCARDS)


def _decided(
    config: Config, plan: Plan, question: AccessQuestion, about: list[AboutIt]
) -> tuple[Extent, str | None]:
    """How much is allowed, and the name of the rule that decided."""
    asker = (question.user, list(question.roles), list(question.claims), question.client)
    if _is_filter(question):
        extent = plan.filter_access(asker, question.right, question.topic)
        deciding = {"whole": "allow", "nothing": "deny", "part": ""}[extent]
        found = (
            name
            for name, rule, is_about_all in about
            if deciding and is_about_all and getattr(rule, deciding)
        )
        return extent, next(found, None)  # type: ignore[return-value]
    is_allowed, at = plan.decide(*asker, question.right, question.topic)
    return ("whole" if is_allowed else "nothing"), None if at is None else _name(config, at)


def _name(config: Config, at: int) -> str:
    names = (name for name, _ in chain(built_in_rules(), named_rules(config)))
    return next(name for place, name in enumerate(names) if place == at)


def _about(
    config: Config, question: AccessQuestion, roles: list[str], *, of_others: bool = False
) -> Iterator[AboutIt]:
    """The rules about this right and topic: of the one who asks, or of everybody."""
    asker = (question.user, roles, list(question.claims), question.client)
    named = [*built_in_rules(), *named_rules(config)]
    for start in range(0, len(named), RULES_AT_ONCE):
        some = named[start : start + RULES_AT_ONCE]
        tuples = [rule.tuple() for _, rule in some]
        if of_others:
            tuples = [(["anyone"], *one[1:]) for one in tuples]
        found = access_rules_covering(tuples, asker, question.right, question.topic)
        for at, is_about_all in found:
            yield (*some[at], is_about_all)


def _unknown(user: str) -> str:
    return f"there is no user '{user}' here; a token or a certificate may still prove this name"


def _needed(
    config: Config, question: AccessQuestion, roles: list[str], denying: list[str]
) -> list[str]:
    """What would have to change for it to be allowed."""
    if denying:
        names = ", ".join(denying[:RULES_SHOWN])
        return [f"a rule that denies wins over all that allow; it would have to change: {names}"]
    who = "anonymous" if question.user is None else f"user:{question.user}"
    words = f"{who} {question.right} {_quoted(question.topic)}"
    notes = [f"no rule allows it; this would: slipring access grant {words}"]
    for name, rule, _ in list(_about(config, question, roles, of_others=True))[:RULES_SHOWN]:
        if rule.allow:
            notes.append(f"rule {name} allows it to {', '.join(rule.who)}")
    return notes


def _quoted(topic: str) -> str:
    return "'" + topic.replace("'", "'\\''") + "'"
