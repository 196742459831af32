"""Alarms as the console shows them: how many in every live message, and each one when asked."""

from typing import Annotated, Literal, TypedDict

from slipring.status.description import Gauge


class AlarmSummary(TypedDict):
    """How many [alarms](alarms.md) there are. Those that are shelved count only as that."""

    revision: Annotated[int, "Changes whenever an alarm does: then ask for the list again."]
    active: Annotated[
        int, "Values beyond a limit, of which the alarm is not shelved.", Gauge("alarms_active")
    ]
    unacknowledged: Annotated[
        int, "Alarms that nobody has acknowledged.", Gauge("alarms_unacknowledged")
    ]
    critical: Annotated[int, "Active ones that are critical.", Gauge("alarms_critical")]
    shelved: Annotated[int, "Alarms that are shelved.", Gauge("alarms_shelved")]


class ShownComment(TypedDict):
    """What somebody wrote about an alarm."""

    at_ms: Annotated[float, "When."]
    by: Annotated[str, "Who."]
    text: Annotated[str, "What."]


class ShownAlarm(TypedDict):
    """One alarm: a limit of a parameter."""

    id: Annotated[str, "Names it in requests."]
    parameter: Annotated[str, "The parameter."]
    limit: Annotated[
        Literal["low_critical", "low", "high", "high_critical"], "Which of its limits."
    ]
    level: Annotated[Literal["warning", "critical"], "How much it matters."]
    state: Annotated[Literal["active", "ended"], "Whether the value is beyond the limit."]
    value: Annotated[float | None, "The value with which it began; null if it is infinite."]
    threshold: Annotated[float | None, "The limit's value; null if it was removed meanwhile."]
    unit: Annotated[str | None, "Of both."]
    since_ms: Annotated[float, "The first sample beyond the limit, in source time."]
    began_ms: Annotated[
        float, "When it began, in source time: later than that by the delay, if there is one."
    ]
    ended_ms: Annotated[float | None, "When it ended."]
    times: Annotated[int, "How often it began while it was listed."]
    acknowledged_by: Annotated[str | None, "Who has seen it."]
    acknowledged_ms: Annotated[float | None, "When."]
    shelved_by: Annotated[str | None, "Who shelved it."]
    shelved_until_ms: Annotated[float | None, "Until when."]
    comments: Annotated[list[ShownComment], "What people wrote, oldest first."]


class AlarmsMessage(TypedDict):
    """The answer to `GET /api/alarms`."""

    revision: Annotated[int, "As in the live message."]
    total: Annotated[int, "How many there are in this state, in this answer or not."]
    alarms: Annotated[
        list[ShownAlarm], "Unacknowledged and active ones first, the newest first; at most 1,000."
    ]
