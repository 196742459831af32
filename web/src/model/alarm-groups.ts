// The alarms of one parameter on one side as one: below and far below a limit has one cause. Pure.
import type { ShownAlarm, ShownComment } from "./contract.ts";

export interface AlarmGroup {
  readonly key: string;
  /** What is shown: the worst of those that are active, else the worst. */
  readonly worst: ShownAlarm;
  /** All of them, the worst first: what a person does is done to each. */
  readonly alarms: readonly ShownAlarm[];
}

/** In the order of the first alarm of each. */
export function alarmGroups(alarms: readonly ShownAlarm[]): AlarmGroup[] {
  const sides = new Map<string, ShownAlarm[]>();
  for (const alarm of alarms) {
    const key = `${alarm.limit.startsWith("low") ? "low" : "high"} ${alarm.parameter}`;
    const side = sides.get(key);
    if (side) side.push(alarm);
    else sides.set(key, [alarm]);
  }
  return [...sides].map(([key, side]) => {
    const [first, ...others] = side.sort((one, other) => severity(other) - severity(one));
    return { key, worst: first as ShownAlarm, alarms: [first as ShownAlarm, ...others] };
  });
}

/** What nobody said yet that they have seen. */
export function waiting({ alarms }: AlarmGroup): readonly ShownAlarm[] {
  return alarms.filter(({ acknowledged_ms }) => acknowledged_ms === null);
}

/** A comment to both alarms of a side is one comment. */
export function commentsOf({ alarms }: AlarmGroup): readonly ShownComment[] {
  const said = new Map<string, ShownComment>();
  for (const { comments } of alarms) for (const one of comments) said.set(`${one.at_ms} ${one.by} ${one.text}`, one);
  return [...said.values()].sort((one, other) => one.at_ms - other.at_ms);
}

function severity({ state, level }: ShownAlarm): number {
  return (state === "active" ? 2 : 0) + (level === "critical" ? 1 : 0);
}
