// The plots at the top of the first page: those of the configuration, or what the broker chose. It asks until there are some.
import type { ParameterDefinition } from "../model/contract.ts";
import { fetchQuickLook } from "../quick-look-request.ts";
import { makeWidget } from "../widgets/make-widget.ts";
import type { WidgetContext } from "../widgets/widget.ts";
import { WidgetBoard } from "../widgets/widget-board.ts";
import { element, explain, part } from "./page.ts";

/** Parameters may be declared later; then there is something to draw. */
const AGAIN_MS = 3_000;
const SENTENCE = "Nothing to draw yet: no parameter has limits. Choose what is drawn here in the configuration:";
const EXAMPLE = '[console]\nquick_look = [["jet/air/altitude"], ["jet/engine/n1", "jet/engine/n2"]]';

export class QuickLook {
  readonly #root = part("quick-look");
  readonly #sheet = element("div", "quick-plots");
  readonly #empty = element("div", "empty");
  #context: WidgetContext | null = null;
  #board: WidgetBoard | null = null;
  #timer = 0;

  constructor() {
    this.#empty.hidden = true;
    this.#root.append(this.#sheet, this.#empty);
  }

  show(context: WidgetContext): void {
    this.#context = context;
    this.#board = new WidgetBoard(context);
    void this.#ask(this.#board);
  }

  hide(): void {
    window.clearTimeout(this.#timer);
    this.#board?.close();
    this.#board = null;
    this.#sheet.replaceChildren();
  }

  async #ask(board: WidgetBoard): Promise<void> {
    const answer = await fetchQuickLook();
    if (board !== this.#board || !this.#context) return;
    for (const one of answer?.definitions ?? []) this.#context.definitions.take(one satisfies ParameterDefinition);
    const plots = answer?.plots ?? [];
    this.#empty.hidden = answer === null || plots.length > 0;
    if (!this.#empty.hidden) explain(this.#empty, SENTENCE, [EXAMPLE]);
    if (plots.length === 0) this.#timer = window.setTimeout(() => void this.#ask(board), AGAIN_MS);
    this.#sheet.dataset["plots"] = String(plots.length);
    for (const names of plots) {
      const widget = makeWidget({ kind: "plot", title: "", options: { names } }, this.#context);
      this.#sheet.append(widget.element);
      board.add(widget);
    }
  }
}
