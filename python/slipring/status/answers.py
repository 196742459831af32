"""What the HTTP API answers beside the messages of the page. Only types."""

from typing import Annotated, Literal, TypedDict

from slipring.status.engine import SessionStatus
from slipring.status.requests import ServiceStatus


class SessionsAnswer(TypedDict):
    """Sessions, the costliest first."""

    sessions: Annotated[list[SessionStatus], "Those that were asked for."]
    total: Annotated[int, "How many there are."]


class ServicesAnswer(TypedDict):
    """Services of requests, the busiest first."""

    services: Annotated[list[ServiceStatus], "Those that were asked for."]
    total: Annotated[int, "How many there are."]


class ClientsDone(TypedDict):
    """To which clients something was done."""

    done: Annotated[list[str], "To these."]
    unknown: Annotated[list[str], "There are no such clients."]


class AlarmsDone(TypedDict):
    """To which alarms something was done."""

    done: Annotated[list[str], "To these."]
    unknown: Annotated[list[str], "There are no such alarms."]


class LoginAnswer(TypedDict):
    """Who has logged in. The cookie is in the head of the answer."""

    user: Annotated[str, "The user name."]


class LogoutAnswer(TypedDict):
    """Nothing: the login is over."""


class LogoutEverywhereAnswer(TypedDict):
    """All logins of the user are over."""

    ended: Annotated[int, "How many there were."]


class TokenAnswer(TypedDict):
    """A token, which is shown once."""

    token: Annotated[str, "The token: `Authorization: Bearer TOKEN`."]
    user: Annotated[str, "Whose it is."]
    expires_s: Annotated[int, "Seconds until it ends."]


class AuditEntry(TypedDict):
    """A record of the audit; null is what is not known, or does not apply."""

    offset: Annotated[int, "Its number in the audit."]
    at_ns: Annotated[int, "When it happened, in nanoseconds since 1970."]
    kind: Annotated[str, "What happened."]
    user: Annotated[str | None, "Who did it."]
    client: Annotated[str | None, "The client."]
    address: Annotated[str | None, "From where."]
    listener: Annotated[str | None, "Where it connected to."]
    proof: Annotated[str | None, "How the user was proved, such as `password`."]
    right: Annotated[str | None, "Which right it takes."]
    topic: Annotated[str | None, "The topic, setting or area that it is about."]
    rule: Annotated[int | None, "The number of the rule that decided."]
    outcome: Annotated[str, "How it ended, such as `ok` or `refused`."]
    detail: Annotated[str | None, "More about it."]
    count: Annotated[int, "How often it happened."]


class AuditAnswer(TypedDict):
    """A page of the audit, the newest first."""

    records: Annotated[list[AuditEntry], "The records."]
    before: Annotated[int | None, "Asks for the next page; null after the last one."]


class _RuleWords(TypedDict):
    name: Annotated[str, "Its name."]
    who: Annotated[list[str], "Whom it is about."]
    topics: Annotated[list[str], "Topic filters."]
    text: Annotated[str, "The rule as a sentence."]


class RuleRow(_RuleWords, total=False):
    """A rule: it has `allow` or `deny`."""

    allow: Annotated[list[str], "Rights that it gives."]
    deny: Annotated[list[str], "Rights that it takes."]


class UserRow(TypedDict):
    """A user, without secrets."""

    name: Annotated[str, "The user name."]
    roles: Annotated[list[str], "What the user is."]
    where: Annotated[str, "The place that has this user."]
    is_granted: Annotated[bool, "Whether it was added while the broker ran."]


class AccessAnswer(TypedDict):
    """The rules and users in force."""

    version: Annotated[int, "Counts the changes that were made while running."]
    is_enforced: Annotated[bool, "Whether rules hold: there are users."]
    wide: Annotated[
        Literal["refuse", "narrow"], "What becomes of filters that are only partly allowed."
    ]
    folder: Annotated[str | None, "The folder of rules; null if there is none."]
    trouble: Annotated[str | None, "Why newer files of it are not in force."]
    warning: Annotated[str | None, "What an administrator should know."]
    rules_total: Annotated[int, "How many rules there are."]
    rules: Annotated[list[RuleRow], "1,000 of them at most."]
    users_total: Annotated[int, "How many users there are."]
    users: Annotated[list[UserRow], "1,000 of them at most."]


class AccessExplained(TypedDict):
    """Whether somebody may do something, and why."""

    is_allowed: Annotated[bool, "Whether they may."]
    extent: Annotated[Literal["whole", "part", "nothing"], "How much of a filter."]
    rule: Annotated[RuleRow | None, "The rule that decided; null if none is about it."]
    others: Annotated[list[RuleRow], "Other rules about it, 100 at most."]
    notes: Annotated[list[str], "What else a person should know."]


class _Warned(TypedDict, total=False):
    warning: Annotated[str, "Nobody may do this again, for example."]


class RuleGranted(_Warned):
    """A rule is in force."""

    rule: Annotated[str, "Its name."]


class RuleRevoked(_Warned):
    """A rule is gone."""

    revoked: Annotated[str, "Its name."]


class UserAdded(_Warned):
    """A user may connect."""

    added: Annotated[str, "The user name."]


class UserChanged(_Warned):
    """A user has another password, or other roles."""

    changed: Annotated[str, "The user name."]


class UserRemoved(_Warned):
    """A user is gone."""

    removed: Annotated[str, "The user name."]
