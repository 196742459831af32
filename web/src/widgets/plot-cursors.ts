// The lines over a plot at the pointer and at cursors A and B. They lie above the picture, so moving them draws nothing anew.
import type { TimeCursors } from "../model/time-cursors.ts";
import type { ShownWindow } from "../model/time-control.ts";
import { element } from "../views/page.ts";

export class PlotCursors {
  readonly #over: HTMLElement;
  readonly #hover = element("div", "plot-cursor");
  readonly #a = element("div", "plot-cursor plot-cursor-a");
  readonly #b = element("div", "plot-cursor plot-cursor-b");

  constructor(over: HTMLElement) {
    this.#over = over;
    this.#a.append(element("span", "", "A"));
    this.#b.append(element("span", "", "B"));
    over.append(this.#hover, this.#a, this.#b);
  }

  render(window: ShownWindow, cursors: TimeCursors): void {
    this.#place(this.#hover, cursors.hover_ms, window);
    this.#place(this.#a, cursors.a_ms, window);
    this.#place(this.#b, cursors.b_ms, window);
  }

  #place(node: HTMLElement, at_ms: number | null, { from_ms, to_ms }: ShownWindow): void {
    node.hidden = at_ms === null || at_ms < from_ms || at_ms > to_ms;
    if (at_ms === null || node.hidden) return;
    const x = ((at_ms - from_ms) / (to_ms - from_ms)) * this.#over.clientWidth;
    node.style.transform = `translateX(${x.toFixed(1)}px)`;
  }
}
