// The broker's figures that a widget can show, each in words. Pure.
import type { LiveMessage } from "./contract.ts";
import { bytes, count, rate } from "./wording.ts";

export interface BrokerFigure {
  readonly label: string;
  readonly value: string;
  readonly unit: string;
  readonly note: string;
  readonly isWarning: boolean;
}

type Make = (message: LiveMessage) => BrokerFigure;

function calm(label: string, value: string, unit: string, note: string): BrokerFigure {
  return { label, value, unit, note, isWarning: false };
}

const MADE = {
  messages_in: ({ rates, totals }) => calm("Messages in", rate(rates.messages_in), "/s", `${count(totals.messages_in)} in all`),
  messages_out: ({ rates, totals }) => calm("Messages out", rate(rates.messages_out), "/s", `${count(totals.messages_out)} in all`),
  samples_in: ({ table }) => ({
    ...calm("Samples in", rate(table.samples_s), "/s", `${count(table.parameters)} parameters, ${count(table.stale)} stale`),
    isWarning: table.refused_s > 0,
  }),
  bytes_in: ({ rates }) => calm("Data in", bytes(rates.bytes_in), "/s", `${bytes(rates.bytes_out)}/s out`),
  clients: (message) => calm("Clients", count(message.clients_total), "", `${count(message.sessions_away)} away`),
  dropped: ({ rates, totals }) => ({
    ...calm("Dropped", count(totals.dropped), "", rates.dropped > 0 ? `now ${rate(rates.dropped)} /s` : "none right now"),
    isWarning: rates.dropped > 0,
  }),
  topics: (message) => calm("Topics", count(message.topics_total), "", `${count(message.retained.messages)} retained`),
  memory: ({ memory }) => ({
    ...calm("Memory of what waits", bytes(memory.bytes), "", `of ${bytes(memory.budget)}`),
    isWarning: memory.bytes > memory.budget * 0.875,
  }),
} satisfies Record<string, Make>;

export const FIGURES = Object.keys(MADE);

/** The figures of these names, in their order; others are left out. */
export function brokerFigures(names: readonly string[], message: LiveMessage): BrokerFigure[] {
  return names.flatMap((name) => (Object.hasOwn(MADE, name) ? [(MADE as Record<string, Make>)[name]!(message)] : []));
}
