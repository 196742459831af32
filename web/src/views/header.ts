// The broker's name and address, and whether what the page shows is current.
import type { BrokerSummary } from "../model/contract.ts";
import type { ConnectionCondition, Freshness } from "../model/connection-state.ts";
import { alarm } from "../model/journal-wording.ts";
import { duration, legible } from "../model/wording.ts";
import { copyText } from "./clipboard.ts";
import { part, setData, setText } from "./page.ts";

const COPIED_FOR_MS = 1_200;

const ANNOUNCED: Record<ConnectionCondition, string> = {
  connecting: "Connecting to the broker.",
  live: "Live.",
  silent: "The broker is silent. The page shows old data.",
  reconnecting: "Connection interrupted, reconnecting.",
  lost: "Connection lost.",
};

export class PageHeader {
  readonly #source = part("broker-source");
  readonly #mark = part("broker-mark");
  readonly #name = part("broker-name");
  readonly #version = part("broker-version");
  readonly #mqtt = part<HTMLButtonElement>("mqtt-address");
  readonly #uptime = part("uptime");
  readonly #connection = part("connection");
  readonly #announcement = part("announcement");
  readonly #notice = part("notice");
  readonly #alarm = part("journal-alarm");
  #address = "";

  constructor() {
    this.#mqtt.addEventListener("click", () => void this.#copyAddress());
  }

  renderBroker(broker: BrokerSummary, since_heard_s: number): void {
    setText(this.#source, legible(broker.source));
    setText(this.#mark, legible(broker.mark ?? ""));
    this.#mark.hidden = broker.mark === null;
    setText(this.#name, legible(broker.name));
    setText(this.#version, broker.version);
    setText(this.#uptime, duration(broker.uptime_s + since_heard_s));
    this.#renderAlarm(alarm(broker.journal));
    if (this.#address === broker.mqtt) return;
    this.#address = broker.mqtt;
    this.#mqtt.textContent = legible(broker.mqtt);
  }

  /** `isLive`: the shown time is now. Else the connection is not called live either: two meanings of a word are confused. */
  renderFreshness(freshness: Freshness, problem: string | null, isLive: boolean): void {
    setText(this.#connection, freshness.condition === "live" && !isLive ? "connected" : freshness.text);
    setData(this.#connection, "condition", freshness.condition);
    setData(document.body, "fresh", freshness.stale ? "stale" : "yes");
    setText(this.#announcement, ANNOUNCED[freshness.condition]);
    this.#renderNotice(freshness, problem);
    const name = this.#name.textContent;
    const title = freshness.shown_age === null ? "Slipring" : `${name} · Slipring`;
    const marked = freshness.stale ? `(stale) ${title}` : title;
    if (document.title !== marked) document.title = marked;
  }

  /** The journal cannot keep its promise: every page says so. */
  #renderAlarm(line: string | null): void {
    this.#alarm.hidden = line === null;
    setText(this.#alarm, line ?? "");
  }

  #renderNotice(freshness: Freshness, problem: string | null): void {
    const sentence = noticeOf(freshness, problem);
    this.#notice.hidden = sentence === null;
    setText(this.#notice, sentence ?? "");
  }

  async #copyAddress(): Promise<void> {
    const copied = await copyText(this.#address);
    this.#mqtt.dataset["copied"] = copied ? "yes" : "no";
    window.setTimeout(() => delete this.#mqtt.dataset["copied"], COPIED_FOR_MS);
  }
}

function noticeOf(freshness: Freshness, problem: string | null): string | null {
  if (problem !== null) return `The page did not understand the broker (${problem}). Reload the page.`;
  if (freshness.stale) return `Not current: everything below is as it was ${freshness.shown_age} ago.`;
  const unheard = freshness.shown_age === null && freshness.condition === "reconnecting";
  return unheard ? "The broker does not answer. Is it running? The page keeps trying." : null;
}
