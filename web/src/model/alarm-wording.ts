// Alarms in words. Pure; what comes from strangers is made legible here and goes in as text elsewhere.
import { unitText } from "./unit-wording.ts";
import type { ShownAlarm } from "./contract.ts";
import { numberText } from "./parameter-value.ts";
import { duration, legible, timeOfDay } from "./wording.ts";

const LIMIT_WORDS: Record<ShownAlarm["limit"], string> = {
  low_critical: "far below its limit",
  low: "below its limit",
  high: "above its limit",
  high_critical: "far above its limit",
};

/** How long an alarm may be shelved: the words and the seconds. */
export const SHELVES: readonly (readonly [string, number])[] = [
  ["10 minutes", 600],
  ["1 hour", 3_600],
  ["8 hours", 28_800],
  ["1 day", 86_400],
];

/** A shape for each level, filled while the value is beyond: so that nobody needs to see the colour. */
export function levelMark({ level, state }: ShownAlarm): string {
  const [filled, hollow] = level === "critical" ? ["◆", "◇"] : ["▲", "△"];
  return state === "active" ? filled : hollow;
}

/** `far above its limit: 905 °C, limit 900 °C`. */
export function reason(alarm: ShownAlarm): string {
  const unit = alarm.unit === null ? "" : ` ${unitText(alarm.unit)}`;
  const value = alarm.value === null ? "" : `: ${numberText(alarm.value, alarm.threshold ?? 0)}${unit}`;
  const threshold = alarm.threshold === null ? "" : `, limit ${numberText(alarm.threshold)}${unit}`;
  return `${LIMIT_WORDS[alarm.limit]}${value}${threshold}`;
}

/** `10:04:58: active for 3 min 5 s`, or how long it was active. */
export function lasting({ state, since_ms, ended_ms, times }: ShownAlarm, now_ms: number): string {
  const end_ms = state === "active" ? now_ms : (ended_ms ?? now_ms);
  const length = duration(Math.max(0, end_ms - since_ms) / 1_000);
  const often = times > 1 ? `, ${times} times` : "";
  return `${timeOfDay(since_ms)}: ${state === "active" ? "active for" : "ended after"} ${length}${often}`;
}

/** Who did what with it; empty if nobody did anything. */
export function handled(alarm: ShownAlarm): string {
  const done: string[] = [];
  if (alarm.acknowledged_ms !== null) {
    done.push(`acknowledged by ${legible(alarm.acknowledged_by ?? "somebody")} at ${timeOfDay(alarm.acknowledged_ms)}`);
  }
  if (alarm.shelved_until_ms !== null) {
    done.push(`shelved by ${legible(alarm.shelved_by ?? "somebody")} until ${timeOfDay(alarm.shelved_until_ms)}`);
  }
  return done.join("; ");
}

/** What is read out when alarms began. */
export function announcement(fresh: readonly ShownAlarm[]): string {
  const [first] = fresh;
  if (first === undefined) return "";
  const told = `${first.level} alarm: ${legible(first.parameter)} is ${reason(first)}`;
  return fresh.length === 1 ? told : `${told}, and ${fresh.length - 1} more alarms`;
}

/** A page of the overview with this parameter chosen. */
export function parameterAddress(parameter: string): string {
  return `#/?parameter=${encodeURIComponent(parameter)}`;
}
