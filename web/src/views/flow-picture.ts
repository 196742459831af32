// The data flow as a picture: publishers, the broker, subscribers. It is made of SVG elements; names go in as text only.
import type { Flow, FlowEnd, FlowSide } from "../model/flow.ts";
import { thickness } from "../model/flow.ts";
import { shortNames } from "../model/short-name.ts";
import { bytes, clientName, count, perSecond } from "../model/wording.ts";

const SVG = "http://www.w3.org/2000/svg";
const BOX_HEIGHT = 46;
const STEP = 54;
const CHARACTER = 7.9;
/** Narrower pictures have publishers above the broker and subscribers below. */
const WIDE_MIN = 640;

interface Place {
  x: number;
  y: number;
  width: number;
}

interface Plan {
  width: number;
  height: number;
  broker: Place;
  publisher: (index: number) => Place;
  subscriber: (index: number) => Place;
  /** From a box to the broker, or from the broker to a box. */
  line: (box: Place, isPublisher: boolean) => string;
}

export interface BrokerBox {
  readonly name: string;
  readonly lines: readonly string[];
}

export class FlowPicture {
  readonly root = svg("svg", { class: "flow", role: "group", "aria-label": "Data flow" });
  readonly #lines = svg("g", {});
  readonly #boxes = svg("g", {});
  readonly #ends = new Map<string, EndBox>();
  readonly #broker = new EndBox(null);

  constructor() {
    this.root.append(this.#lines, this.#boxes);
    this.#boxes.append(this.#broker.root);
  }

  render(flow: Flow, broker: BrokerBox, width: number): void {
    const plan = planOf(flow, width);
    this.root.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
    this.root.setAttribute("height", String(plan.height));
    const wanted = new Set<string>();
    this.#renderSide(flow.publishers, true, plan, wanted);
    this.#renderSide(flow.subscribers, false, plan, wanted);
    this.#broker.render(plan.broker, [broker.name, ...broker.lines], "broker");
    for (const [key, box] of this.#ends) {
      if (wanted.has(key)) continue;
      box.remove();
      this.#ends.delete(key);
    }
  }

  #renderSide(side: FlowSide, isPublisher: boolean, plan: Plan, wanted: Set<string>): void {
    const place = isPublisher ? plan.publisher : plan.subscriber;
    const room = Math.floor((place(0).width - 20) / CHARACTER);
    const names = side.shown.map(({ client_id }) => clientName(client_id));
    const short = shortNames(names, room);
    const draw = (key: string, at: Place, end: FlowEnd | null, name: string, texts: string[], rate_s: number) => {
      wanted.add(key);
      let box = this.#ends.get(key);
      if (!box) {
        box = new EndBox(end?.client_id ?? null);
        this.#ends.set(key, box);
        this.#boxes.append(box.root);
        this.#lines.append(box.line);
      }
      const kind = isPublisher ? "sends" : "gets";
      box.render(at, texts, end?.slow ? "slow" : "calm", `${name} ${kind} ${texts.slice(1).join(", ")}`);
      box.renderLine(plan.line(at, isPublisher), thickness(rate_s), end?.slow ? "slow" : rate_s > 0 ? "busy" : "idle");
    };
    const prefix = isPublisher ? "in" : "out";
    side.shown.forEach((end, index) => {
      const texts = [short[index] ?? "", figures(end)];
      if (end.slow !== null) texts.push(end.slow);
      draw(`${prefix} ${end.client_id}`, place(index), end, names[index] ?? "", texts, end.rate_s);
    });
    if (side.others === 0) return;
    const more = `${count(side.others)} more`;
    // A client's key has a space after the first word, too; none has two.
    draw(`${prefix}  others`, place(side.shown.length), null, more, [more, perSecond(side.others_rate_s)], side.others_rate_s);
  }
}

function figures({ rate_s, queued_messages, queued_bytes }: FlowEnd): string {
  const waiting = queued_messages > 0 ? `, ${count(queued_messages)} wait` : queued_bytes > 0 ? `, ${bytes(queued_bytes)} wait` : "";
  return perSecond(rate_s) + waiting;
}

/** One box with its line; a link to its client, so that keys reach it, too. */
class EndBox {
  readonly root: SVGElement;
  readonly line = svg("path", { class: "flow-line", fill: "none" });
  readonly #frame = svg("rect", { rx: "6" });
  readonly #texts: SVGElement[] = [];
  readonly #title = svg("title", {});

  constructor(client_id: string | null) {
    this.root = client_id === null ? svg("g", {}) : svg("a", { href: `#/clients/${encodeURIComponent(client_id)}` });
    if (client_id !== null) this.root.dataset["flow"] = client_id;
    this.root.append(this.#title, this.#frame);
  }

  remove(): void {
    this.root.remove();
    this.line.remove();
  }

  render({ x, y, width }: Place, texts: readonly string[], kind: string, label = texts.join(", ")): void {
    set(this.root, "class", `flow-box flow-${kind}`);
    if (this.root.tagName === "a") set(this.root, "aria-label", label);
    if (this.#title.textContent !== label) this.#title.textContent = label;
    const height = kind === "broker" ? 22 + texts.length * 17 : texts.length > 2 ? BOX_HEIGHT + 4 : BOX_HEIGHT - 4;
    for (const [name, value] of [["x", x], ["y", y - height / 2], ["width", width], ["height", height]] as const) {
      set(this.#frame, name, String(value));
    }
    while (this.#texts.length < texts.length) {
      const made = svg("text", {});
      this.#texts.push(made);
      this.root.append(made);
    }
    this.#texts.forEach((node, index) => {
      const text = texts[index] ?? "";
      if (node.textContent !== text) node.textContent = text;
      set(node, "class", index === 0 ? "flow-name" : index === 2 && kind === "slow" ? "flow-slowness" : "flow-figure");
      set(node, "x", String(x + 10));
      set(node, "y", String(y - height / 2 + (kind === "broker" ? 24 : texts.length > 2 ? 15 : 18) + index * (kind === "broker" ? 17 : 15)));
    });
  }

  renderLine(path: string, width: number, kind: string): void {
    set(this.line, "d", path);
    set(this.line, "stroke-width", width.toFixed(1));
    set(this.line, "data-kind", kind);
  }
}

function planOf(flow: Flow, width: number): Plan {
  const boxes = ({ shown, others }: FlowSide) => Math.max(1, shown.length + (others > 0 ? 1 : 0));
  const [left, right] = [boxes(flow.publishers), boxes(flow.subscribers)];
  return width >= WIDE_MIN ? widePlan(left, right, width) : narrowPlan(left, right, width);
}

function widePlan(left: number, right: number, width: number): Plan {
  const height = Math.max(left, right, 3) * STEP + 10;
  const box = Math.min(300, width * 0.3);
  const broker = { x: width / 2 - 85, y: height / 2, width: 170 };
  const column = (x: number, amount: number) => (index: number) => ({ x, y: height / 2 + (index - (amount - 1) / 2) * STEP, width: box });
  const line = (at: Place, isPublisher: boolean) => {
    const [from, to] = isPublisher ? [at.x + at.width, broker.x] : [broker.x + broker.width, at.x];
    const [begin, end] = isPublisher ? [at.y, broker.y] : [broker.y, at.y];
    const middle = (from + to) / 2;
    return `M${from} ${begin}C${middle} ${begin} ${middle} ${end} ${to} ${end}`;
  };
  return { width, height, broker, publisher: column(1, left), subscriber: column(width - box - 1, right), line };
}

function narrowPlan(left: number, right: number, width: number): Plan {
  const gutter = 34;
  const middle = left * STEP + 62;
  const broker = { x: 1, y: middle, width: width - 2 };
  const below = middle + 84;
  const row = (top: number) => (index: number) => ({ x: gutter, y: top + index * STEP, width: width - gutter - 1 });
  const line = (at: Place, isPublisher: boolean) => {
    const edge = isPublisher ? middle - 36 : middle + 36;
    return `M${gutter} ${at.y}H18V${edge}`;
  };
  return { width, height: below + right * STEP, broker, publisher: row(28), subscriber: row(below), line };
}

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string>): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function set(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
