// What all widgets of values share: their parameters, and that they ask for them. Subclasses draw, and nothing else.
import { namesOf, type WidgetOptions } from "../model/layout.ts";
import { element } from "../views/page.ts";
import type { Widget, WidgetContext, WidgetSpec } from "./widget.ts";
import { newestOf } from "./widget-reading.ts";

/** Samples that a widget needs which shows one value, or one state. */
const COLUMNS_OF_A_VALUE = 64;

export abstract class Instrument implements Widget {
  readonly element: HTMLElement;
  protected readonly context: WidgetContext;
  readonly #spec: WidgetSpec;
  readonly #names: readonly string[];

  protected constructor(spec: WidgetSpec, context: WidgetContext, namesMax: number) {
    this.#spec = spec;
    this.context = context;
    this.#names = [...new Set(namesOf(spec.options))].slice(0, namesMax);
    this.element = element("div", `instrument instrument-${spec.kind}`);
    newestOf(context).want(this, this.#names);
  }

  /** How many columns of samples it can show. */
  get columns(): number {
    return COLUMNS_OF_A_VALUE;
  }

  names(): readonly string[] {
    return this.#names;
  }

  spec(): WidgetSpec {
    return this.#spec;
  }

  render(now_ms: number): void {
    const shown_ms = this.context.time.shown(now_ms);
    newestOf(this.context).follow(this.context.time.mode, shown_ms, performance.now());
    this.draw(shown_ms, now_ms);
  }

  resize(): void {
    // What is laid out by the style sheet follows by itself.
  }

  destroy(): void {
    newestOf(this.context).release(this);
    this.element.remove();
  }

  protected get options(): WidgetOptions {
    return this.#spec.options;
  }

  protected abstract draw(shown_ms: number, now_ms: number): void;
}
