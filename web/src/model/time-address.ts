// The shown time in the address, so that it can be shared and reloaded: `from=2026-11-19T02:01:30.000Z&to=...&play=4`. Pure.
import { isoTime } from "./series-csv.ts";
import { SPAN_MS_MAX, SPAN_MS_MIN, SPAN_MS_START, SPEED_MAX, SPEED_MIN, type TimeControl } from "./time-control.ts";

const KEYS = ["from", "to", "span", "play"];
/** The year 9999: the console writes times with four digits for the year. */
const TIME_MAX = 253_402_300_799_999;

/** Whether an address says anything about the time. */
export function saysTime(query: URLSearchParams): boolean {
  return KEYS.some((key) => query.has(key));
}

/** Shows the time that an address says. What it does not say, or says wrongly, stays as it is. */
export function applyTime(query: URLSearchParams, time: TimeControl, live_ms: number): void {
  const from_ms = readTime(query.get("from") ?? "");
  const to_ms = readTime(query.get("to") ?? "");
  const span_ms = Number(query.get("span"));
  const speed = Number(query.get("play"));
  if (from_ms !== null && to_ms !== null && to_ms > from_ms) {
    time.pause(live_ms);
    time.showWindow(from_ms, to_ms, live_ms);
    if (speed >= SPEED_MIN && speed <= SPEED_MAX) time.play(speed, live_ms);
  } else if (span_ms >= SPAN_MS_MIN && span_ms <= SPAN_MS_MAX) time.setSpan(span_ms);
}

/** The same query with the time that is shown; the other parts of it stay. */
export function withTime(query: URLSearchParams, time: TimeControl, live_ms: number): URLSearchParams {
  const next = new URLSearchParams([...query].filter(([key]) => !KEYS.includes(key)));
  const { from_ms, to_ms } = time.window(live_ms);
  if (time.mode !== "live") {
    next.set("from", isoTime(from_ms));
    next.set("to", isoTime(to_ms));
    if (time.mode === "replay") next.set("play", String(time.speed));
  } else if (time.span_ms !== SPAN_MS_START) next.set("span", String(time.span_ms));
  return next;
}

/** A query as people can read it: what need not be encoded is not. */
export function queryText(query: URLSearchParams): string {
  return query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
}

/**
 * Reads a time in UTC: ISO 8601 with or without its last parts, `2026-11-19 02:01:30.25`, or milliseconds since 1970.
 * Null if it is none.
 */
export function readTime(text: string): number | null {
  const plain = text.trim();
  if (/^\d{11,15}(\.\d+)?$/.test(plain)) return inRange(Number(plain));
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?\s*(?:Z|UTC)?$/i.exec(plain);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((digits) => Number(digits ?? 0)) as [number, number, number, number, number, number];
  const at_ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const isReal = new Date(at_ms).getUTCDate() === day && month <= 12 && hour < 24 && minute < 60 && second < 60;
  return isReal ? inRange(at_ms + Number(found[7] ?? 0) * 1_000) : null;
}

function inRange(at_ms: number): number | null {
  return at_ms >= 0 && at_ms <= TIME_MAX ? at_ms : null;
}
