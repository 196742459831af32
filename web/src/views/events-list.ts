// What happened at the broker, newest first.
import type { BrokerEvent } from "../model/contract.ts";
import type { EventLog } from "../model/event-log.ts";
import { legible, moment, timeOfDay } from "../model/wording.ts";
import { element, explain, part } from "./page.ts";

export class EventsList {
  readonly #list = part<HTMLOListElement>("events-list");
  readonly #empty = part("events-empty");
  #revision = -1;

  render(log: EventLog): void {
    if (this.#revision === log.revision) return;
    this.#revision = log.revision;
    this.#list.replaceChildren(...log.newestFirst.map(item));
    this.#empty.hidden = log.newestFirst.length > 0;
    if (log.newestFirst.length > 0) return;
    explain(this.#empty, "No events yet. Clients that connect and disconnect, refusals and faults appear here.");
  }
}

function item(event: BrokerEvent): HTMLLIElement {
  const made = element("li");
  made.dataset["level"] = event.level;
  const when = element("time", "", timeOfDay(event.at_ms));
  when.title = moment(event.at_ms);
  const kind = element("span", "kind", legible(event.kind));
  const text = element("span", "text", legible(event.text));
  text.title = text.textContent;
  made.append(when, kind, text);
  return made;
}
