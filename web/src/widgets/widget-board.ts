// Draws the widgets of a page: those in view, when their time, samples or pointers changed, at most 30 times a second.
import { countFrame } from "../model/frame-counter.ts";
import type { Widget, WidgetContext } from "./widget.ts";

/** Two frames of a screen of 60 Hz, with some room for a frame that comes early. */
const FRAME_MS_MIN = 30;
/** What only time changes is drawn when it has moved by so many columns. */
const COLUMNS_MOVED = 0.5;
/** Ages and sentences are drawn at least this often. */
const QUIET_MS_MAX = 500;
const COLUMNS_AT_FIRST = 800;

interface Placed {
  readonly widget: Widget;
  isInView: boolean;
  isDirty: boolean;
  drawn_at_ms: number;
  drawn_to_ms: number;
  revision: number;
}

export class WidgetBoard {
  readonly #context: WidgetContext;
  readonly #placed = new Map<Element, Placed>();
  readonly #seen: IntersectionObserver;
  readonly #sized: ResizeObserver;
  #frame = 0;

  constructor(context: WidgetContext) {
    this.#context = context;
    this.#seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.#change(target, (placed) => (placed.isInView = isIntersecting));
    });
    this.#sized = new ResizeObserver((entries) => {
      for (const { target } of entries) this.#change(target, ({ widget }) => widget.resize());
    });
  }

  get widgets(): Widget[] {
    return [...this.#placed.values()].map(({ widget }) => widget);
  }

  /** Takes a widget whose element is in the page. */
  add(widget: Widget): void {
    this.#placed.set(widget.element, { widget, isInView: true, isDirty: true, drawn_at_ms: 0, drawn_to_ms: 0, revision: -1 });
    this.#seen.observe(widget.element);
    this.#sized.observe(widget.element);
    if (this.#frame === 0) this.#frame = requestAnimationFrame((local_ms) => this.#draw(local_ms));
  }

  remove(widget: Widget): void {
    this.#seen.unobserve(widget.element);
    this.#sized.unobserve(widget.element);
    this.#placed.delete(widget.element);
    this.#context.series.release(widget);
    widget.destroy();
  }

  /** Every widget is drawn with the next frame. */
  touch(): void {
    for (const placed of this.#placed.values()) placed.isDirty = true;
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#seen.disconnect();
    this.#sized.disconnect();
    for (const { widget } of this.#placed.values()) {
      this.#context.series.release(widget);
      widget.destroy();
    }
    this.#placed.clear();
  }

  #change(target: Element, change: (placed: Placed) => void): void {
    const placed = this.#placed.get(target);
    if (!placed) return;
    change(placed);
    placed.isDirty = true;
  }

  #draw(local_ms: number): void {
    this.#frame = this.#placed.size > 0 ? requestAnimationFrame((next_ms) => this.#draw(next_ms)) : 0;
    const now_ms = this.#context.now();
    if (now_ms === null) return;
    const began_ms = performance.now();
    this.#follow(now_ms, local_ms);
    let drawn = 0;
    for (const placed of this.#placed.values()) {
      if (!this.#isDue(placed, now_ms, local_ms)) continue;
      placed.isDirty = false;
      placed.drawn_at_ms = local_ms;
      placed.drawn_to_ms = this.#context.time.shown(now_ms);
      placed.revision = this.#revisionOf(placed.widget);
      placed.widget.render(now_ms);
      drawn += 1;
    }
    if (drawn > 0) countFrame(drawn, performance.now() - began_ms);
  }

  #follow(now_ms: number, local_ms: number): void {
    const { series, time } = this.#context;
    for (const { widget } of this.#placed.values()) series.want(widget, widget.names(), columnsOf(widget));
    const window = time.window(now_ms);
    series.follow({ ...window, mode: time.mode, speed: time.speed, live_ms: now_ms }, local_ms);
  }

  #isDue(placed: Placed, now_ms: number, local_ms: number): boolean {
    const passed_ms = local_ms - placed.drawn_at_ms;
    if (!placed.isInView || passed_ms < FRAME_MS_MIN) return false;
    if (placed.isDirty || passed_ms > QUIET_MS_MAX || placed.revision !== this.#revisionOf(placed.widget)) return true;
    const moved_ms = Math.abs(this.#context.time.shown(now_ms) - placed.drawn_to_ms);
    return moved_ms >= (this.#context.time.span_ms / columnsOf(placed.widget)) * COLUMNS_MOVED;
  }

  /** Another number whenever what a widget draws may be another: samples, definitions, time, cursors. */
  #revisionOf(widget: Widget): number {
    const { series, definitions, time, cursors } = this.#context;
    const shared = definitions.revision + time.revision + cursors.revision + this.#context.revision();
    return widget.names().reduce((sum, name) => sum + series.revision(name), shared);
  }
}

function columnsOf(widget: Widget): number {
  return widget.columns ?? COLUMNS_AT_FIRST;
}
