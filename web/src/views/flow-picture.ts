// The data flow as a picture: publishers, the broker, subscribers, the journal and its readers. It is made of SVG elements;
// names go in as text only.
import type { ConsumerStatus, LiveMessage } from "../model/contract.ts";
import { type BoxWords, brokerWords, consumerWords, journalWords, othersWords, publisherWords, subscriberWords } from "../model/flow-wording.ts";
import { type Flow, type FlowEnd, type FlowSide, thickness } from "../model/flow.ts";
import { shortNames } from "../model/short-name.ts";
import { BOX_PADDING, LINE_HEIGHT, type BoxPlace, type Plan, planOf } from "./flow-plan.ts";

const SVG = "http://www.w3.org/2000/svg";
const CHARACTER = 7.9;

/** A box that is to be drawn, and its line. */
interface Wanted {
  readonly key: string;
  readonly place: BoxPlace;
  readonly words: BoxWords;
  readonly kind: "calm" | "broker";
  /** Where it leads to; null for nowhere. */
  readonly href: string | null;
  readonly path: string;
  readonly bytes_s: number;
  readonly is_busy: boolean;
  readonly label: string;
}

export class FlowPicture {
  readonly root = svg("svg", { class: "flow", role: "group", "aria-label": "Data flow" });
  readonly #headings = svg("g", { "aria-hidden": "true" });
  readonly #lines = svg("g", {});
  readonly #boxes = svg("g", {});
  readonly #drawn = new Map<string, EndBox>();

  constructor() {
    this.root.append(this.#headings, this.#lines, this.#boxes);
  }

  render(flow: Flow, latest: LiveMessage, consumers: readonly ConsumerStatus[], width: number): void {
    const boxes = ({ shown, others }: FlowSide) => shown.length + (others > 0 ? 1 : 0);
    const amounts = { publishers: boxes(flow.publishers), subscribers: boxes(flow.subscribers), consumers: consumers.length };
    const plan = planOf(amounts, width);
    set(this.root, "viewBox", `0 0 ${plan.width} ${plan.height}`);
    set(this.root, "height", String(plan.height));
    this.#renderHeadings(plan);
    const wanted = [...middle(plan, latest), ...publishers(plan, flow.publishers), ...subscribers(plan, flow.subscribers), ...readers(plan, consumers)];
    for (const one of wanted) this.#box(one).render(one);
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, box] of this.#drawn) {
      if (keys.has(key)) continue;
      box.remove();
      this.#drawn.delete(key);
    }
  }

  #box({ key, href }: Wanted): EndBox {
    const known = this.#drawn.get(key);
    if (known) return known;
    const made = new EndBox(key, href);
    this.#drawn.set(key, made);
    this.#boxes.append(made.root);
    this.#lines.append(made.line);
    return made;
  }

  #renderHeadings({ headings }: Plan): void {
    while (this.#headings.childElementCount > headings.length) this.#headings.lastElementChild?.remove();
    headings.forEach(({ text, x, y }, at) => {
      const node = this.#headings.children[at] ?? this.#headings.appendChild(svg("text", { class: "flow-heading" }));
      if (node.textContent !== text) node.textContent = text;
      set(node, "x", String(x));
      set(node, "y", String(y));
    });
  }
}

function middle(plan: Plan, latest: LiveMessage): Wanted[] {
  const { journal } = latest.broker;
  const shared = { bytes_s: 0, kind: "broker" as const };
  const [broker, stored] = [brokerWords(latest), journalWords(journal)];
  const is_on = journal.state !== "off";
  return [
    { ...shared, key: "broker", place: plan.broker, words: broker, href: "#/broker", path: "", is_busy: false, label: said("broker", broker) },
    {
      ...shared, key: "journal", place: plan.journal, words: stored, href: "#/storage", path: plan.record,
      bytes_s: is_on ? latest.rates.bytes_in : 0, is_busy: is_on && latest.rates.bytes_in > 0, label: said("keeps", stored),
    },
  ];
}

function publishers({ publisher, from }: Plan, side: FlowSide): Wanted[] {
  return sideOf(side, "in", "sends", publisherWords, publisher, from);
}

function subscribers({ subscriber, to }: Plan, side: FlowSide): Wanted[] {
  return sideOf(side, "out", "gets", subscriberWords, subscriber, to);
}

function sideOf(side: FlowSide, prefix: string, verb: string, wordsOf: (end: FlowEnd) => BoxWords, place: (index: number) => BoxPlace, path: (at: BoxPlace) => string): Wanted[] {
  const wanted = side.shown.map((end, index): Wanted => {
    const [at, words] = [place(index), wordsOf(end)];
    return {
      key: `${prefix} ${end.client_id}`, place: at, words, kind: "calm", href: `#/clients/${encodeURIComponent(end.client_id)}`,
      path: path(at), bytes_s: end.bytes_s, is_busy: end.rate_s > 0, label: said(verb, words),
    };
  });
  const named = shortened(wanted);
  if (side.others === 0) return named;
  const [at, words] = [place(side.shown.length), othersWords(side)];
  // A client's key has a space after the first word, too; none has two.
  const key = `${prefix}  others`;
  return [...named, { key, place: at, words, kind: "calm", href: null, path: path(at), bytes_s: side.others_bytes_s, is_busy: side.others_rate_s > 0, label: said(verb, words) }];
}

function readers({ consumer, read }: Plan, consumers: readonly ConsumerStatus[]): Wanted[] {
  return shortened(consumers.map((one, index): Wanted => {
    const [at, words] = [consumer(index), consumerWords(one)];
    const is_busy = (one.messages_s ?? 0) > 0;
    return { key: `reader ${one.name}`, place: at, words, kind: "calm", href: "#/pipeline", path: read(at), bytes_s: is_busy ? 1_000 : 0, is_busy, label: said("reads the journal:", words) };
  }));
}

/** The same boxes with names that fit, and are still told apart. */
function shortened(wanted: readonly Wanted[]): Wanted[] {
  const room = Math.floor(((wanted[0]?.place.width ?? 0) - 20) / CHARACTER);
  const names = shortNames(wanted.map(({ words }) => words.name), room);
  return wanted.map((one, index) => ({ ...one, words: { ...one.words, name: names[index] ?? "" } }));
}

function said(verb: string, { name, lines, wrong }: BoxWords): string {
  return `${name} ${verb} ${[...lines, ...(wrong === null ? [] : [wrong])].join("; ")}`;
}

/** One box with its line; a link to what it stands for, so that keys reach it, too. */
class EndBox {
  readonly root: SVGElement;
  readonly line = svg("path", { class: "flow-line", fill: "none" });
  readonly #frame = svg("rect", { rx: "6" });
  readonly #texts: SVGElement[] = [];
  readonly #title = svg("title", {});

  constructor(key: string, href: string | null) {
    this.root = href === null ? svg("g", {}) : svg("a", { href });
    const [side, ...name] = key.split(" ");
    if (side === "in" || side === "out") this.root.dataset["flow"] = name.join(" ");
    else this.root.dataset["flowPart"] = key;
    this.root.append(this.#title, this.#frame);
  }

  remove(): void {
    this.root.remove();
    this.line.remove();
  }

  render({ place, words, kind, label, path, bytes_s, is_busy }: Wanted): void {
    const texts = [words.name, ...words.lines, ...(words.wrong === null ? [] : [words.wrong])];
    const is_wrong = words.wrong !== null;
    set(this.root, "class", `flow-box flow-${is_wrong ? "slow" : kind}`);
    if (this.root.tagName === "a") set(this.root, "aria-label", label);
    if (this.#title.textContent !== label) this.#title.textContent = label;
    const { x, y, width } = place;
    const height = texts.length * LINE_HEIGHT + 2 * BOX_PADDING;
    for (const [name, value] of [["x", x], ["y", y - height / 2], ["width", width], ["height", height]] as const) {
      set(this.#frame, name, String(value));
    }
    this.#renderTexts(texts, is_wrong, x + 10, y - height / 2 + BOX_PADDING);
    set(this.line, "d", path);
    set(this.line, "stroke-width", thickness(bytes_s).toFixed(1));
    set(this.line, "data-kind", is_wrong ? "slow" : is_busy ? "busy" : "idle");
  }

  #renderTexts(texts: readonly string[], is_wrong: boolean, x: number, top: number): void {
    while (this.#texts.length > texts.length) this.#texts.pop()?.remove();
    while (this.#texts.length < texts.length) {
      const made = svg("text", {});
      this.#texts.push(made);
      this.root.append(made);
    }
    this.#texts.forEach((node, index) => {
      const text = texts[index] ?? "";
      if (node.textContent !== text) node.textContent = text;
      const is_last = index === texts.length - 1;
      set(node, "class", index === 0 ? "flow-name" : is_last && is_wrong ? "flow-slowness" : "flow-figure");
      set(node, "x", String(x));
      set(node, "y", String(top + index * LINE_HEIGHT + 12));
    });
  }
}

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string>): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function set(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
