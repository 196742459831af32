"""What programs send to the HTTP API: the parameters of queries, and bodies. Only types."""

from typing import Annotated, Literal, TypedDict

from slipring.status.json_schema import Between, Matching
from slipring.status.requests import RequestStateName

NUMBER_MAX = 999_999_999
"""The greatest number of a query that is not a time."""
TIME_MAX = (1 << 63) - 1
ROWS_MAX = 200
"""Rows of one search."""
FIRST_MAX = 2**32
NAME_MAX = 1_024
PARAMETERS_MAX = 200
"""Names of one search."""
SERIES_MAX = 24
VALUES_MAX = 500
TIME_MS = Between(0, 9_999_999_999_999)
"""A time in milliseconds since 1970."""
ParametersSort = Literal["name", "state", "age", "rate", "-name", "-state", "-age", "-rate"]
SEARCH_MAX = 1_000
"""Characters of a search."""
NAMED_MAX = 1_000
"""Clients of one request."""


class ParametersQuery(TypedDict, total=False):
    """Which parameters."""

    search: Annotated[
        str,
        "A filter with wildcards, or a part of the name; all if it is left out.",
        Between(0, SEARCH_MAX),
    ]
    sort: Annotated[ParametersSort, "What rows are sorted by; `-`: the other way round."]
    first: Annotated[int, "The first row, from 0.", Between(0, FIRST_MAX)]
    count: Annotated[int, "So many rows.", Between(0, ROWS_MAX)]
    name: Annotated[list[str], "Only these; may be repeated.", Between(0, PARAMETERS_MAX)]


class ParametersAsked(TypedDict, total=False):
    """What a page that watches parameters sends."""

    search: Annotated[str, "As in the query.", Between(0, SEARCH_MAX)]
    sort: Annotated[ParametersSort, "As in the query."]
    first: Annotated[int, "The first row in view.", Between(0, FIRST_MAX)]
    count: Annotated[int, "How many rows are in view.", Between(0, ROWS_MAX)]
    names: Annotated[list[str], "Names that the page marks.", Between(0, PARAMETERS_MAX)]
    only_names: Annotated[bool, "Whether only those are searched."]


class PartsAsked(TypedDict):
    """Which lists of the live message a page shows."""

    parts: Annotated[list[str], "Names of fields, such as `clients`."]


class BranchesQuery(TypedDict, total=False):
    """Below which level of names."""

    path: Annotated[str, "The levels above; the first level if left out.", Between(0, NAME_MAX)]


class ParameterQuery(TypedDict):
    """Which parameter."""

    name: Annotated[str, "Its name.", Between(1, NAME_MAX)]


class _NamesQuery(TypedDict):
    name: Annotated[list[str], "A parameter; may be repeated, 24 at most.", Between(1, SERIES_MAX)]


class HistoryQuery(_NamesQuery, total=False):
    """Which parameters, over which time."""

    from_ms: Annotated[float, "From when, since 1970; five minutes before the end.", TIME_MS]
    to_ms: Annotated[float, "Until when; now if left out.", TIME_MS]
    width: Annotated[int, "At most so many buckets.", Between(1, 4_000)]


class _ValuesNames(TypedDict):
    name: Annotated[list[str], "A parameter; may be repeated, 500 at most.", Between(1, VALUES_MAX)]


class ValuesQuery(_ValuesNames, total=False):
    """Which parameters, at which time."""

    at_ms: Annotated[float, "The time, since 1970; now if left out.", TIME_MS]


class SamplesAsked(TypedDict):
    """What a page draws."""

    names: Annotated[list[str], "Parameters, 128 at most.", Between(0, 128)]
    step_ms: Annotated[float, "The length of a bucket, 1 to 60,000."]


class AlarmsQuery(TypedDict, total=False):
    """Which alarms."""

    state: Annotated[
        Literal["active", "ended", "unacknowledged", "shelved", "history"],
        "Those in this state; `history`: those that are over.",
    ]


class AlarmIdsBody(TypedDict):
    """Which alarms."""

    ids: Annotated[list[str], "What names them in the list.", Between(1, NAMED_MAX)]


class AcknowledgeBody(AlarmIdsBody, total=False):
    """Which alarms somebody has seen."""

    comment: Annotated[str, "What they write about them."]


class ShelveBody(AlarmIdsBody):
    """Which alarms are set aside for a time."""

    seconds: Annotated[float, "How long: more than 0, seven days at most."]


class CommentBody(AlarmIdsBody):
    """What somebody writes about alarms."""

    comment: Annotated[str, "The text."]


class SessionsQuery(TypedDict, total=False):
    """Which sessions."""

    state: Annotated[
        Literal["connected", "away"], "Those that are connected, or those that are not."
    ]
    owner: Annotated[str, "Those of this owner."]
    most: Annotated[int, "So many at most, of 1,000.", Between(0, NUMBER_MAX)]


class ClientsQuery(TypedDict, total=False):
    """How many clients."""

    most: Annotated[int, "So many at most, of 500.", Between(0, NUMBER_MAX)]


class TopicsQuery(TypedDict, total=False):
    """Which topics."""

    filter: Annotated[str, "Those that this filter matches; all if left out.", Between(1, 65_535)]
    after: Annotated[str, "Those behind this name: `next` of the page before."]
    most: Annotated[int, "So many at most, of 500; 100 if left out.", Between(0, NUMBER_MAX)]


class RequestsQuery(TypedDict, total=False):
    """Which requests."""

    state: Annotated[RequestStateName, "Those in this state, or that ended so."]
    topic: Annotated[str, "Those to topics that this filter matches."]
    client: Annotated[str, "Those that this client asked, or has."]
    most: Annotated[int, "So many at most, of 1,000.", Between(0, NUMBER_MAX)]


class ServicesQuery(TypedDict, total=False):
    """How many services."""

    most: Annotated[int, "So many at most, of 1,000.", Between(0, NUMBER_MAX)]


class _OfTopic(TypedDict):
    topic: Annotated[str, "A topic, without wildcards."]


class SubscribersQuery(_OfTopic, total=False):
    """Whose subscribers."""

    most: Annotated[int, "So many at most, of 1,000.", Between(0, NUMBER_MAX)]


class AuditQuery(TypedDict, total=False):
    """Which records of the audit."""

    before: Annotated[
        int, "Those before this offset: `before` of the page before.", Between(0, TIME_MAX)
    ]
    most: Annotated[int, "So many at most, of 200.", Between(0, TIME_MAX)]
    since_ns: Annotated[int, "Those since then, in nanoseconds since 1970.", Between(0, TIME_MAX)]
    user: Annotated[str, "Those of this user."]
    client: Annotated[str, "Those of this client."]
    kind: Annotated[str, "Those of this kind, such as `denied`."]


class AccessQuery(TypedDict, total=False):
    """Which rules and users."""

    start: Annotated[
        int, "From this place in the list on; 1,000 are answered.", Between(0, NUMBER_MAX)
    ]


class ExplainQuery(TypedDict, total=False):
    """Whether somebody may do something."""

    action: Annotated[str, "A right, such as `publish`."]
    topic: Annotated[str, "The topic; of `subscribe` and `select` also a filter."]
    user: Annotated[str, "The user; a client without a name if it is left out."]
    role: Annotated[list[str], "A role that a token gives; may be repeated."]
    claim: Annotated[list[str], "A claim of a token, as `NAME=VALUE`; may be repeated."]
    client: Annotated[str, "The client identifier."]


class CallbackQuery(TypedDict, total=False):
    """What an identity provider sends back with the browser; it may send more."""

    state: Annotated[str, "What the login began with."]
    code: Annotated[str, "What the broker asks the provider with."]
    error: Annotated[str, "Why the provider refused."]
    iss: Annotated[str, "Which provider it is."]


class LoginBody(TypedDict):
    """A name and a password."""

    user: Annotated[str, "The user name."]
    password: Annotated[str, "The password."]


class TokenBody(TypedDict, total=False):
    """Who wants a token. A page that has logged in sends no user and password."""

    user: Annotated[str, "The user name."]
    password: Annotated[str, "The password."]
    lifetime_s: Annotated[
        float | None, "Seconds that it lasts, at least 1; the broker may give it less."
    ]


class ClientsBody(TypedDict):
    """Which clients."""

    client_ids: Annotated[list[str], "Their identifiers.", Between(0, NAMED_MAX)]


class MemoryBody(TypedDict):
    """Another budget of memory."""

    size: Annotated[str, "Such as `512MB`, `2GiB` or `25%`.", Between(1, 64)]


class LogLevelBody(TypedDict):
    """Another level of a room of the log."""

    room: Annotated[str, "A room, or `all`."]
    level: Annotated[str, "`debug`, `info`, `warning` or `error`."]


class _RuleOf(TypedDict):
    who: Annotated[list[str], "`user:NAME`, `role:NAME`, `claim:NAME=VALUE`, `known` or `anyone`."]
    topics: Annotated[list[str], "Topic filters."]


class RuleBody(_RuleOf, total=False):
    """A rule: it has `allow` or `deny`."""

    allow: Annotated[list[str], "Rights that it gives."]
    deny: Annotated[list[str], "Rights that it takes, whatever other rules allow."]


class _UserOf(TypedDict):
    name: Annotated[str, "The user name.", Between(1, 256)]
    verifier: Annotated[str, "What `slipring password` prints.", Matching("SCRAM-SHA-256\\$.+")]


class UserBody(_UserOf, total=False):
    """A new user."""

    roles: Annotated[list[str], "What the user is, such as `operator`."]


class UserChangeBody(TypedDict, total=False):
    """What changes of a user: one of these, or both."""

    verifier: Annotated[str, "What `slipring password` prints.", Matching("SCRAM-SHA-256\\$.+")]
    roles: Annotated[list[str], "What the user is, such as `operator`."]
