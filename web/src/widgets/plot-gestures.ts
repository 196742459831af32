// Moves and zooms the time with pointer, wheel and fingers on a plot. It changes the time and the cursors, and draws nothing.
import { element } from "../views/page.ts";
import type { WidgetContext } from "./widget.ts";

/** A shorter way is a click. */
const CLICK_PX_MAX = 4;
const WHEEL = 0.0016;
const WHEEL_PX_MAX = 300;

interface Drag {
  readonly x: number;
  readonly to_ms: number;
  readonly isBox: boolean;
  hasMoved: boolean;
}

export class PlotGestures {
  readonly #over: HTMLElement;
  readonly #context: WidgetContext;
  readonly #box = element("div", "plot-box");
  readonly #pointers = new Map<number, number>();
  #drag: Drag | null = null;
  #hover_x: number | null = null;

  constructor(over: HTMLElement, context: WidgetContext) {
    this.#over = over;
    this.#context = context;
    this.#box.hidden = true;
    over.append(this.#box);
    over.addEventListener("pointerdown", (event) => this.#pressed(event));
    over.addEventListener("pointermove", (event) => this.#moved(event));
    over.addEventListener("pointerup", (event) => this.#released(event));
    over.addEventListener("pointercancel", (event) => this.#released(event));
    over.addEventListener("pointerleave", () => this.#left());
    over.addEventListener("wheel", (event) => this.#turned(event), { passive: false });
  }

  /** The pointer stays where it is while the time goes on. */
  follow(): void {
    if (this.#hover_x !== null && this.#pointers.size === 0) this.#context.cursors.hover(this.#timeAt(this.#hover_x));
  }

  get #now_ms(): number {
    return this.#context.now() ?? 0;
  }

  get #perPixel_ms(): number {
    return this.#context.time.span_ms / Math.max(1, this.#over.clientWidth);
  }

  #xOf(event: MouseEvent): number {
    return event.clientX - this.#over.getBoundingClientRect().left;
  }

  #timeAt(x: number): number {
    return this.#context.time.window(this.#now_ms).from_ms + x * this.#perPixel_ms;
  }

  #pressed(event: PointerEvent): void {
    if (event.button !== 0) return;
    const x = this.#xOf(event);
    this.#over.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, x);
    const to_ms = this.#context.time.shown(this.#now_ms);
    this.#drag = this.#pointers.size === 1 ? { x, to_ms, isBox: event.shiftKey, hasMoved: false } : null;
  }

  #moved(event: PointerEvent): void {
    const x = this.#xOf(event);
    if (this.#pointers.size === 2) this.#pinch(event.pointerId, x);
    else if (this.#drag && this.#pointers.has(event.pointerId)) this.#dragTo(this.#drag, x);
    else if (event.pointerType === "mouse") this.#hover_x = x;
    this.follow();
    this.#context.requestRender();
  }

  #dragTo(drag: Drag, x: number): void {
    drag.hasMoved ||= Math.abs(x - drag.x) > CLICK_PX_MAX;
    if (!drag.hasMoved) return;
    if (drag.isBox) this.#showBox(drag.x, x);
    else this.#context.time.seek(drag.to_ms - (x - drag.x) * this.#perPixel_ms, this.#now_ms);
  }

  #showBox(from_x: number, to_x: number): void {
    this.#box.hidden = false;
    this.#box.style.left = `${Math.min(from_x, to_x)}px`;
    this.#box.style.width = `${Math.abs(to_x - from_x)}px`;
  }

  #pinch(id: number, x: number): void {
    const [other] = [...this.#pointers].filter(([one]) => one !== id);
    const before = this.#pointers.get(id);
    this.#pointers.set(id, x);
    if (!other || before === undefined) return;
    const factor = Math.max(8, Math.abs(before - other[1])) / Math.max(8, Math.abs(x - other[1]));
    this.#context.time.zoom(factor, this.#timeAt(other[1]), this.#now_ms);
  }

  #released(event: PointerEvent): void {
    const x = this.#xOf(event);
    this.#pointers.delete(event.pointerId);
    const drag = this.#drag;
    this.#drag = null;
    this.#box.hidden = true;
    if (!drag || event.type === "pointercancel") return;
    if (!drag.hasMoved) this.#context.cursors.click(this.#timeAt(x));
    else if (drag.isBox) this.#zoomTo(Math.min(drag.x, x), Math.max(drag.x, x));
    this.#context.requestRender();
  }

  #zoomTo(from_x: number, to_x: number): void {
    const [from_ms, to_ms] = [this.#timeAt(from_x), this.#timeAt(to_x)];
    if (this.#context.time.mode === "live") this.#context.time.pause(this.#now_ms);
    this.#context.time.showWindow(from_ms, to_ms, this.#now_ms);
  }

  #left(): void {
    this.#hover_x = null;
    this.#context.cursors.hover(null);
    this.#context.requestRender();
  }

  /** On a page that scrolls, the wheel zooms a plot that was clicked, or with Ctrl: else the page would be caught. */
  #turned(event: WheelEvent): void {
    const isMeant = event.ctrlKey || event.metaKey || this.#over.closest("[data-wheel='zoom'], :focus-within[data-plot]") !== null;
    if (!isMeant) return;
    event.preventDefault();
    const clamp = (pixels: number) => Math.min(Math.max(pixels, -WHEEL_PX_MAX), WHEEL_PX_MAX);
    const { time } = this.#context;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) time.move(event.deltaX * this.#perPixel_ms, this.#now_ms);
    else time.zoom(Math.exp(clamp(event.deltaY) * WHEEL), this.#timeAt(this.#xOf(event)), this.#now_ms);
    this.#context.requestRender();
  }
}
