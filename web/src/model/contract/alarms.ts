// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, oneOf, orNull, type TypeOf } from "../shape.ts";

/** How many alarms there are. Those that are shelved count only as that. */
export const AlarmSummary = fields({
  revision: "number", active: "number", unacknowledged: "number", critical: "number", shelved: "number",
});
export type AlarmSummary = TypeOf<typeof AlarmSummary>;

/** What somebody wrote about an alarm. */
export const ShownComment = fields({
  at_ms: "number", by: "text", text: "text",
});
export type ShownComment = TypeOf<typeof ShownComment>;

/** One alarm: a limit of a parameter. */
export const ShownAlarm = fields({
  id: "text", parameter: "text", limit: oneOf("low_critical", "low", "high", "high_critical"),
  level: oneOf("warning", "critical"), state: oneOf("active", "ended"), value: orNull("number"),
  threshold: orNull("number"), unit: orNull("text"), since_ms: "number", began_ms: "number",
  ended_ms: orNull("number"), times: "number", acknowledged_by: orNull("text"), acknowledged_ms: orNull("number"),
  shelved_by: orNull("text"), shelved_until_ms: orNull("number"), comments: list(ShownComment),
});
export type ShownAlarm = TypeOf<typeof ShownAlarm>;

/** The answer to `GET /api/alarms`. */
export const AlarmsMessage = fields({
  revision: "number", total: "number", alarms: list(ShownAlarm),
});
export type AlarmsMessage = TypeOf<typeof AlarmsMessage>;
