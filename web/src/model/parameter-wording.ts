// A parameter in words: how far its value can be trusted, and its definition.
import type { ParameterDefinition, ParameterSample, ParametersMessage, TableFigures } from "./contract.ts";
import { type Alarm, alarmOf } from "./parameter-value.ts";
import { count, counted, duration, legible, rate, UNKNOWN } from "./wording.ts";

const REASONS: Record<string, string> = {
  "out-of-range": "out of range",
  "sensor-failed": "sensor failed",
  "bad-inputs": "calculated from bad inputs",
};

interface ParameterCondition {
  severity: "good" | "doubtful" | "stale" | "warning" | "critical";
  text: string;
}

/** Quality and limits in words. Of a stale value that exceeded a limit, staleness comes first. */
export function condition(definition: ParameterDefinition, sample: ParameterSample | null, now_ms: number): ParameterCondition {
  if (sample === null) return { severity: "stale", text: "no value yet" };
  const alarm = alarmOf(definition, sample.value);
  if (sample.quality === "stale") return { severity: "stale", text: joined(stale(sample, now_ms), alarm) };
  if (alarm) return { severity: alarm.level, text: joined(alarm.why, null, quality(sample)) };
  return { severity: sample.quality === "good" ? "good" : "doubtful", text: quality(sample) };
}

function joined(first: string, alarm: Alarm | null, further = ""): string {
  const rest = alarm ? `; it was ${alarm.why}` : further === "" || further === "good" ? "" : `; ${further}`;
  return first + rest;
}

function stale(sample: ParameterSample, now_ms: number): string {
  const since = duration((now_ms - sample.time_ms) / 1_000);
  if (sample.why === "publisher-gone") return `stale: publisher gone ${since} ago`;
  if (sample.why === "silent") return `stale: silent for ${since}`;
  if (sample.why === "restored") return "stale: from before the restart; nobody publishes it yet";
  return `stale for ${since}`;
}

function quality(sample: ParameterSample): string {
  if (sample.why === null) return legible(sample.quality);
  const reason = REASONS[sample.why] ?? (/^\d+$/.test(sample.why) ? `reason ${sample.why}` : sample.why);
  return legible(`${sample.quality}: ${reason}`);
}

function limitsText(limits: NonNullable<ParameterDefinition["limits"]>): string {
  const named: [string, number | null][] = [
    ["critical low", limits.low_critical],
    ["low", limits.low],
    ["high", limits.high],
    ["critical high", limits.high_critical],
  ];
  return named.flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`])).join(", ");
}

/** Alarm limits in words; null where there are none. */
export function limitsOf({ limits }: ParameterDefinition): string | null {
  return limits && limitsText(limits);
}

/** How many parameters match and exist. */
export function extent(message: ParametersMessage | null): string {
  if (message === null || message.parameters === 0) return "";
  const { matching, parameters } = message;
  return matching === parameters ? count(parameters) : `${count(matching)} that match, of ${count(parameters)}`;
}

/** Samples a second as they were measured, else as they were declared; the broker need not know either. */
export function rateText(declared_hz: number | null, measured_hz: number | null): string {
  const hz = measured_hz ?? declared_hz;
  return hz === null ? UNKNOWN : `${rate(hz)} Hz`;
}

/** What arrives for the table, and how many values are stale. */
export function inflow(table: TableFigures): string {
  if (table.parameters === 0) return "";
  const refused = table.refused > 0 ? ` · ${count(table.refused)} refused` : "";
  const from = `${rate(table.samples_s)} samples/s in ${rate(table.frames_s)} frames/s`;
  return `${from} · ${count(table.stale)} stale · ${counted(table.selections, "selection")}${refused}`;
}
