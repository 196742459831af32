// One topic: its newest message, how often it comes, and who is subscribed to it. It asks the broker when a person does.
import { clientName, age, bytes, count, counted, legible, moment, payload, perSecond } from "../model/wording.ts";
import type { TopicRecord, ValueStore } from "../model/value-store.ts";
import { NotUnderstood } from "../model/shape.ts";
import { type Subscription, subscribersOf } from "../model/topic-subscribers.ts";
import { element, setText } from "./page.ts";

const SHOWN = 50;

export class TopicDetail {
  readonly root = element("section", "panel topic-detail");
  readonly #title = element("h2");
  readonly #facts = element("dl", "ledger");
  readonly #who = element("ul", "filters");
  readonly #total = element("h3");
  #topic: string | null = null;

  constructor() {
    this.root.id = "topic-detail";
    this.root.hidden = true;
    this.#title.id = "topic-detail-title";
    this.root.setAttribute("aria-labelledby", this.#title.id);
    const close = element("button", "deed", "Close");
    close.type = "button";
    close.addEventListener("click", () => this.choose(null));
    const head = element("div", "panel-head");
    head.append(this.#title, close);
    for (const name of ["Value", "Size", "Age", "Messages"]) {
      const row = element("div");
      row.append(element("dt", "", name), element("dd"));
      this.#facts.append(row);
    }
    this.root.append(head, this.#facts, this.#total, this.#who);
  }

  choose(topic: string | null): void {
    this.#topic = topic;
    this.root.hidden = topic === null;
    this.#who.replaceChildren();
    setText(this.#total, "Subscribers");
    if (topic !== null) void this.#ask(topic);
  }

  render(values: ValueStore, now_ms: number): void {
    if (this.#topic === null) return;
    setText(this.#title, legible(this.#topic));
    const record = values.get(this.#topic);
    const told = record ? facts(record, now_ms) : ["The broker no longer knows it.", "–", "–", "–"];
    told.forEach((text, index) => setText(this.#facts.children[index]?.lastElementChild as Element, text));
  }

  async #ask(topic: string): Promise<void> {
    const answer = await ask(topic);
    if (topic !== this.#topic) return;
    if (typeof answer === "string") return setText(this.#total, answer);
    setText(this.#total, counted(answer.total, "subscriber"));
    this.#who.replaceChildren(...answer.shown.map((one) => element("li", "", subscriptionWords(one))));
  }
}

function facts({ newest, cadence }: TopicRecord, now_ms: number): string[] {
  return [
    payload(newest.text, newest.bytes),
    bytes(newest.bytes),
    `${age(now_ms - newest.at_ms)} · ${moment(newest.at_ms)}`,
    `${count(newest.count)}, ${perSecond(cadence.perSecond(now_ms))}`,
  ];
}

function subscriptionWords({ client_id, filter, qos, connected, share }: Subscription): string {
  const shared = share === null ? "" : `, shared as ${legible(share)}`;
  return `${clientName(client_id)} by ${legible(filter)}, QoS ${qos}${shared}${connected ? "" : ", away"}`;
}

/** Who is subscribed, or why that is not known. */
async function ask(topic: string): Promise<{ total: number; shown: Subscription[] } | string> {
  try {
    const answer = await fetch(`api/subscribers?${new URLSearchParams({ topic, most: String(SHOWN) })}`);
    const text = await answer.text();
    return answer.ok ? subscribersOf(text) : `Who is subscribed: ${legible(text.trim())}`;
  } catch (error) {
    return error instanceof NotUnderstood ? "This page is older than the broker; load it again." : "The broker did not answer.";
  }
}
