// What happened at the broker, newest first, by level and text.
import type { BrokerEvent } from "../model/contract.ts";
import { chosenEvents } from "../model/event-choice.ts";
import type { EventLog } from "../model/event-log.ts";
import { count, legible, moment, timeOfDay } from "../model/wording.ts";
import { element, explain, part, setText } from "./page.ts";

const NONE = "No events yet. Clients that connect and disconnect, refusals and faults appear here.";
const NONE_CHOSEN = "No event is like this. Choose another level, or clear the search.";

export class EventsList {
  readonly #list = part<HTMLOListElement>("events-list");
  readonly #empty = part("events-empty");
  readonly #level = part<HTMLSelectElement>("events-level");
  readonly #search = part<HTMLInputElement>("events-search");
  readonly #count = part("events-count");
  #drawn = "";

  render(log: EventLog): void {
    const choice = { level: this.#level.value, text: this.#search.value };
    const key = `${log.revision} ${choice.level} ${choice.text}`;
    if (this.#drawn === key) return;
    this.#drawn = key;
    const shown = chosenEvents(log.newestFirst, choice);
    this.#list.replaceChildren(...shown.map(eventItem));
    const all = log.newestFirst.length;
    setText(this.#count, shown.length === all ? "newest first" : `${count(shown.length)} of the last ${count(all)}, newest first`);
    this.#empty.hidden = shown.length > 0;
    if (shown.length === 0) explain(this.#empty, all === 0 ? NONE : NONE_CHOSEN);
  }
}

export function eventItem(event: BrokerEvent): HTMLLIElement {
  const made = element("li");
  made.dataset["level"] = event.level;
  const when = element("time", "", timeOfDay(event.at_ms));
  when.title = moment(event.at_ms);
  const kind = element("span", "kind", legible(event.kind));
  kind.title = event.level;
  const text = element("span", "text", legible(event.text));
  text.title = text.textContent;
  made.append(when, kind, text);
  return made;
}
