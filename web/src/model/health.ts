// The health line: is what arrives complete, young and undisturbed? Each point says it in a word, and why.
import type { LiveMessage } from "./contract.ts";
import { count, rate } from "./wording.ts";

/** A sample that is older than this is not valid any more. */
export const VALID_MS = 200;

export type Health = "good" | "calm" | "warning" | "fault";

export interface HealthPoint {
  readonly name: string;
  readonly label: string;
  readonly figure: string;
  /** Whether it is fine, in a word or two. */
  readonly word: string;
  readonly health: Health;
  /** What the figure means and what was measured. */
  readonly why: string;
}

export function healthPoints(latest: LiveMessage): HealthPoint[] {
  return [parametersPoint(latest), samplesPoint(latest), agePoint(latest), dropsPoint(latest), ...alarmsPoints(latest)];
}

function parametersPoint({ table }: LiveMessage): HealthPoint {
  const shared = { name: "parameters", label: "Parameters", figure: `${count(table.parameters - table.stale)} live` };
  const why = "Live: its publisher is there and sends as often as expected. Stale: the publisher is gone, or silent for too long.";
  if (table.parameters === 0) return { ...shared, figure: "none", word: "nothing declared", health: "calm", why };
  if (table.stale === 0) return { ...shared, word: "none stale", health: "good", why };
  const health = table.stale === table.parameters ? "fault" : "warning";
  return { ...shared, word: `${count(table.stale)} stale`, health, why };
}

function samplesPoint({ table }: LiveMessage): HealthPoint {
  const shared = { name: "samples", label: "Samples", figure: `${rate(table.samples_s)} /s` };
  const why = "Samples of parameters taken from publishers, over the last second. Refused ones are in the events, with the reason.";
  if (table.refused_s > 0) return { ...shared, word: `refusing ${rate(table.refused_s)} /s`, health: "warning", why };
  if (table.samples_s > 0) return { ...shared, word: "none refused", health: "good", why };
  return { ...shared, word: "nothing comes", health: "calm", why };
}

function agePoint({ table }: LiveMessage): HealthPoint {
  const { age_p50_ms: half, age_p99_ms: most, aged } = table;
  const why = `How old samples are when the broker has them: its clock minus the source's, of the newest samples of ${count(aged)} parameters, looked at once a second (at most 512). They are valid for ${VALID_MS} ms. A publisher whose clock is wrong shows here, too.`;
  const shared = { name: "age", label: "Age on arrival", why };
  if (half === null || most === null) return { ...shared, figure: "–", word: "no samples", health: "calm" };
  const figure = `p50 ${shortMs(half)} · p99 ${shortMs(most)}`;
  if (most <= VALID_MS) return { ...shared, figure, word: `within ${VALID_MS} ms`, health: "good" };
  return { ...shared, figure, word: `over ${VALID_MS} ms`, health: half > VALID_MS ? "fault" : "warning" };
}

function dropsPoint({ totals, rates }: LiveMessage): HealthPoint {
  const shared = { name: "drops", label: "Dropped", figure: count(totals.dropped) };
  const why = "Messages that a subscriber did not get because it, or the memory budget, could not take more: since the start, and now. The clients' page says whose.";
  if (rates.dropped > 0) return { ...shared, word: `now ${rate(rates.dropped)} /s`, health: "warning", why };
  return { ...shared, word: totals.dropped > 0 ? "none now" : "nothing lost", health: "good", why };
}

interface AlarmCounts {
  readonly active: number;
  readonly unacknowledged: number;
  readonly critical: number;
}

/** A broker that watches no limits says nothing of alarms. */
function alarmsPoints(latest: LiveMessage & { readonly alarms?: AlarmCounts }): HealthPoint[] {
  const { alarms } = latest;
  if (!alarms) return [];
  const shared = { name: "alarms", label: "Alarms", figure: `${count(alarms.active)} active` };
  const why = "Parameters beyond their limits. Unacknowledged: nobody has said yet that they have seen it.";
  if (alarms.critical > 0) return [{ ...shared, word: `${count(alarms.critical)} critical`, health: "fault", why }];
  const word = `${count(alarms.unacknowledged)} unacknowledged`;
  if (alarms.unacknowledged > 0) return [{ ...shared, word, health: "warning", why }];
  return [{ ...shared, word: alarms.active > 0 ? "all acknowledged" : "none", health: alarms.active > 0 ? "calm" : "good", why }];
}

function shortMs(elapsed_ms: number): string {
  if (elapsed_ms < 9.95) return `${elapsed_ms.toFixed(1)} ms`;
  return elapsed_ms < 9_950 ? `${count(elapsed_ms)} ms` : `${count(elapsed_ms / 1_000)} s`;
}
