// Consumers of the journal and jobs of the pipeline in words. Pure.
import type { ConsumerStatus, JournalSummary } from "./contract.ts";
import { age, count, counted, duration, legible, rate, UNKNOWN } from "./wording.ts";

/** The name under which a job tells of rows that it could not read. */
const SET_ASIDE = "set_aside";

export function consumerCells(consumer: ConsumerStatus, now_ms: number): string[] {
  const name = legible(consumer.name);
  if (consumer.flaw !== null) return [name, "–", "–", "–", "–", "–", "–", legible(consumer.flaw)];
  const { offset, behind, lag_s, messages_s, rows, updated_ms } = consumer;
  const moved = updated_ms === null ? "–" : age(now_ms - updated_ms);
  return [name, count(offset), count(behind), lag(lag_s), rate(messages_s), written(rows), setAside(rows), moved];
}

/** One row for each table that a job says it writes. */
export function tableCells(consumer: ConsumerStatus): { key: string; cells: string[] }[] {
  return consumer.rows.map(({ table, rows, rows_s, last_rows }) => ({
    key: `${consumer.name} ${table}`,
    cells: [legible(table), legible(consumer.name), count(rows), rate(rows_s), count(last_rows)],
  }));
}

/** Whether a consumer set rows aside: somebody has to look at them. */
export function hasSetAside({ rows }: ConsumerStatus): boolean {
  return rows.some(({ table, rows: amount }) => table === SET_ASIDE && amount > 0);
}

/** One line for the page of the journal. */
export function readersLine({ consumers, consumers_total }: JournalSummary): string {
  const [furthest] = consumers;
  if (!furthest) return "nobody has left a position";
  const behind = furthest.flaw === null ? `${counted(furthest.behind, "message")} behind` : legible(furthest.flaw);
  return `${counted(consumers_total, "consumer")}; ${legible(furthest.name)}: ${behind}`;
}

/** Tenths of a second while it is short. */
export function lag(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  return seconds < 9.95 ? `${seconds.toFixed(1)} s` : duration(seconds);
}

/** Rows per second of all tables together. */
export function written(rows: ConsumerStatus["rows"]): string {
  const own = rows.filter(({ table }) => table !== SET_ASIDE);
  return own.length === 0 ? UNKNOWN : rate(own.reduce((sum, { rows_s }) => sum + rows_s, 0));
}

function setAside(rows: ConsumerStatus["rows"]): string {
  const found = rows.find(({ table }) => table === SET_ASIDE);
  return found ? count(found.rows) : UNKNOWN;
}
