// The boxes of the data flow in words: rates, queues, how far behind. Pure.
import type { ConsumerStatus, JournalSummary, LiveMessage } from "./contract.ts";
import type { FlowEnd, FlowSide } from "./flow.ts";
import { lag, written } from "./pipeline-wording.ts";
import { bytes, clientName, count, counted, legible, rate } from "./wording.ts";

/** What a box says: its name, the lines below it, and what is wrong in a line of its own. */
export interface BoxWords {
  readonly name: string;
  readonly lines: readonly string[];
  readonly wrong: string | null;
}

export function publisherWords(end: FlowEnd): BoxWords {
  const samples = end.samples_s > 0 ? [`${rate(end.samples_s)} samples/s`] : [];
  return { name: clientName(end.client_id), lines: [...samples, traffic(end)], wrong: end.slow };
}

export function subscriberWords(end: FlowEnd): BoxWords {
  const { queued_messages, queued_bytes } = end;
  const parts = [queued_messages > 0 ? counted(queued_messages, "message") : "", queued_bytes > 0 ? bytes(queued_bytes) : ""];
  const queue = `queue: ${parts.filter((part) => part !== "").join(", ") || "empty"}`;
  return { name: clientName(end.client_id), lines: [traffic(end), queue], wrong: end.slow };
}

export function othersWords({ others, others_rate_s, others_bytes_s }: FlowSide): BoxWords {
  return { name: `${count(others)} more`, lines: [traffic({ rate_s: others_rate_s, bytes_s: others_bytes_s })], wrong: null };
}

export function brokerWords({ broker, rates, table, memory }: LiveMessage): BoxWords {
  const samples = table.samples_s > 0 ? [`with ${rate(table.samples_s)} samples/s`] : [];
  const budget = memory.budget > 0 ? ` of ${bytes(memory.budget)}` : "";
  return {
    name: legible(broker.name),
    lines: [
      `in: ${traffic({ rate_s: rates.messages_in, bytes_s: rates.bytes_in })}`,
      ...samples,
      `out: ${traffic({ rate_s: rates.messages_out, bytes_s: rates.bytes_out })}`,
      `queues and buffers: ${bytes(memory.bytes)}${budget}`,
    ],
    wrong: rates.dropped > 0 ? `drops ${rate(rates.dropped)} messages/s` : null,
  };
}

export function journalWords({ state, bytes: size, unsynced, reason }: JournalSummary): BoxWords {
  if (state === "off") return { name: "journal", lines: ["nothing is journaled"], wrong: null };
  return {
    name: "journal",
    lines: [`${bytes(size)} on disk`, `${counted(unsynced, "message")} not yet on disk`],
    wrong: state === "ok" ? null : legible(reason ?? state),
  };
}

export function consumerWords({ name, messages_s, lag_s, rows, flaw }: ConsumerStatus): BoxWords {
  const rows_s = rows.length > 0 ? `${written(rows)} rows/s from ` : "";
  const lines = [`${rows_s}${rate(messages_s)} messages/s`, `${lag(lag_s)} behind`];
  return { name: legible(name), lines: flaw === null ? lines : [], wrong: flaw === null ? null : legible(flaw) };
}

function traffic({ rate_s, bytes_s }: Pick<FlowEnd, "rate_s" | "bytes_s">): string {
  return `${rate(rate_s)} messages/s, ${bytes(bytes_s)}/s`;
}
