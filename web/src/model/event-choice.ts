// Which events a person wants to see: from a level on, and with a text. Pure.
import type { BrokerEvent } from "./contract.ts";

export const EVENT_LEVELS = ["debug", "info", "warning", "error"] as const;

export interface EventChoice {
  /** The least important level that is shown. */
  readonly level: string;
  readonly text: string;
}

export function chosenEvents(events: readonly BrokerEvent[], { level, text }: EventChoice): BrokerEvent[] {
  const least = EVENT_LEVELS.findIndex((one) => one === level);
  const wanted = text.trim().toLowerCase();
  return events.filter((event) => {
    const weight = EVENT_LEVELS.findIndex((one) => one === event.level);
    if (weight >= 0 && weight < least) return false;
    return `${event.kind} ${event.text}`.toLowerCase().includes(wanted);
  });
}
