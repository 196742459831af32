// The lines of a log: texts of parameters where they change, and events of the broker, newest first and bounded. Pure.
import type { BrokerEvent } from "./contract.ts";

export const LOG_LINES_MAX = 200;

export interface LogLine {
  readonly at_ms: number;
  readonly level: string;
  /** A parameter, or what the event is about. */
  readonly source: string;
  readonly text: string;
}

export interface TextSamples {
  readonly times: ArrayLike<number>;
  readonly texts: ArrayLike<string>;
  readonly length: number;
}

/** The samples at which a text differs from the one before. */
export function textLines(source: string, { times, texts, length }: TextSamples, from_ms: number, to_ms: number): LogLine[] {
  const lines: LogLine[] = [];
  let before: string | null = null;
  for (let at = 0; at < length && at < texts.length && times[at]! <= to_ms; at += 1) {
    const text = texts[at]!;
    if (text !== before && times[at]! >= from_ms) lines.push({ at_ms: times[at]!, level: "info", source, text });
    before = text;
  }
  return lines.slice(-LOG_LINES_MAX);
}

export function eventLines(events: readonly BrokerEvent[], from_ms: number, to_ms: number): LogLine[] {
  const shown = events.filter(({ at_ms }) => at_ms >= from_ms && at_ms <= to_ms);
  return shown.slice(0, LOG_LINES_MAX).map(({ at_ms, level, kind, text }) => ({ at_ms, level, source: kind, text }));
}

export function newestFirst(lines: readonly LogLine[]): LogLine[] {
  return lines.toSorted((one, other) => other.at_ms - one.at_ms).slice(0, LOG_LINES_MAX);
}
