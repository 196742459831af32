// One request's life as a line of time: a bar whose parts are as long as what happened, and the steps in words.
import type { OneRequestMessage } from "../model/contract.ts";
import { after, life, span, type LifeStep } from "../model/request-wording.ts";
import { bytes, clientName, legible, moment, timeOfDay } from "../model/wording.ts";
import { element, setText } from "./page.ts";

/** A part is at least this much of the bar, so that a short one is seen. */
const SHARE_MIN = 0.02;
/** From this share on there is room for its words. */
const SHARE_WITH_WORDS = 0.08;

export class RequestLife {
  readonly node = element("section", "request-life");
  readonly #title = element("h3");
  readonly #about = element("p", "note");
  readonly #bar = element("div", "life-bar");
  readonly #steps = element("ol", "life-steps");

  constructor(close: () => void) {
    this.node.id = "request-life";
    this.node.hidden = true;
    this.node.ariaLabel = "The life of one request";
    const button = element("button", "deed", "Close");
    button.type = "button";
    button.addEventListener("click", close);
    const head = element("div", "panel-head");
    head.append(this.#title, button);
    this.#bar.role = "img";
    this.node.append(head, this.#about, this.#bar, this.#steps);
  }

  hide(): void {
    this.node.hidden = true;
  }

  /** Says that nothing is known of a request. */
  miss(key: string): void {
    this.#open(key, "It ended some time ago: the broker remembers the last 1,000.");
    this.#bar.replaceChildren();
    this.#steps.replaceChildren();
  }

  render({ at_ms, request }: OneRequestMessage): void {
    const { topic, state, asker, service, priority, payload_bytes } = request;
    const whose = service === null ? clientName(asker) : `${clientName(asker)} → ${clientName(service)}`;
    const left = request.times_out_ms === null ? "" : ` · times out in ${span(request.times_out_ms - at_ms)}`;
    const about = `${state} · ${legible(topic)} · ${whose} · ${priority} · ${bytes(payload_bytes)}${left}`;
    this.#open(request.key, about);
    const steps = life(request, at_ms);
    this.#bar.ariaLabel = steps.map((step, index) => `${after(steps, index)} ${step.what}`.trim()).join(", ");
    this.#drawBar(steps);
    this.#steps.replaceChildren(...steps.map((step, index) => stepRow(step, after(steps, index))));
  }

  #open(key: string, about: string): void {
    this.node.hidden = false;
    setText(this.#title, `Request ${legible(key)}`);
    setText(this.#about, about);
  }

  #drawBar(steps: LifeStep[]): void {
    const total_ms = steps.reduce((sum, { lasts_ms }) => sum + lasts_ms, 0);
    const parts = steps.filter(({ lasts_ms }) => lasts_ms > 0);
    this.#bar.replaceChildren(
      ...parts.map((step) => {
        const share = step.lasts_ms / total_ms;
        const made = element("span", "", share < SHARE_WITH_WORDS ? "" : span(step.lasts_ms));
        made.dataset["phase"] = step.phase;
        made.style.flexGrow = String(Math.max(SHARE_MIN, share));
        made.title = `${step.what}: ${span(step.lasts_ms)}`;
        return made;
      }),
    );
  }
}

function stepRow({ at_ms, phase, what }: LifeStep, since: string): HTMLLIElement {
  const made = element("li");
  made.dataset["phase"] = phase;
  const time = element("time", "", timeOfDay(at_ms));
  time.title = moment(at_ms);
  made.append(time, element("span", "since", since), element("span", "text", what));
  return made;
}
