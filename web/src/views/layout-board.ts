// The widgets of a layout on their grid: made, moved, drawn while they can be seen, and ended.
import type { EditedLayout, EditedWidget } from "../model/layout-edit.ts";
import { type GridBox, moved, nudged, readingOrder, resized } from "../model/layout-grid.ts";
import { makeWidget } from "../widgets/make-widget.ts";
import { WidgetBoard } from "../widgets/widget-board.ts";
import type { Widget, WidgetContext } from "../widgets/widget.ts";
import { attachGestures, type GestureAct, type GestureBoard } from "./frame-gestures.ts";
import { element, setText } from "./page.ts";
import { WidgetFrame } from "./widget-frame.ts";

const COLUMNS = 12;
const GAP = 8;
const ROW = 44;
/** On a phone widgets stand below each other, and there is nothing to drag. */
const PHONE = matchMedia("(max-width: 620px)");

/** What the board tells its page. */
export interface BoardReports {
  placed: (boxes: readonly GridBox[]) => void;
  edit: (widget: EditedWidget) => void;
  remove: (widget: EditedWidget) => void;
  /** A widget has changed its own options. */
  changed: (widget: EditedWidget, options: EditedWidget["options"]) => void;
}

export class LayoutBoard implements GestureBoard {
  readonly root = element("div", "board");
  readonly #said = element("p", "unseen");
  readonly #grid = element("div", "board-grid");
  readonly #context: WidgetContext;
  readonly #reports: BoardReports;
  readonly #frames = new Map<number, WidgetFrame>();
  readonly #drawing: WidgetBoard;
  #layout: EditedLayout = { title: "", widgets: [] };
  #preview: GridBox[] | null = null;
  #canArrange = false;

  constructor(context: Omit<WidgetContext, "changed">, reports: BoardReports) {
    this.#reports = reports;
    this.#context = { ...context, changed: (widget) => this.#changed(widget) };
    this.#said.role = "status";
    this.root.append(this.#said, this.#grid);
    this.#drawing = new WidgetBoard(this.#context);
  }

  /** Shows a layout; widgets that stay keep what they have drawn. */
  show(layout: EditedLayout): void {
    this.#layout = layout;
    const ids = new Set(layout.widgets.map(({ id }) => id));
    for (const [id, frame] of this.#frames) if (!ids.has(id)) this.#end(id, frame);
    for (const widget of layout.widgets) this.#frameOf(widget);
    this.#put(layout.widgets);
    this.#context.requestRender();
  }

  arrange(canArrange: boolean): void {
    this.#canArrange = canArrange;
    this.root.classList.toggle("board-arranged", canArrange);
  }

  canArrange(): boolean {
    return this.#canArrange && !PHONE.matches;
  }

  focus(id: number): void {
    const frame = this.#frames.get(id);
    frame?.root.scrollIntoView({ block: "nearest" });
    frame?.grip.focus({ preventScroll: true });
  }

  close(): void {
    this.#drawing.close();
    this.#frames.clear();
    this.root.remove();
  }

  steps(): { column: number; row: number } {
    return { column: (this.#grid.clientWidth + GAP) / COLUMNS, row: ROW + GAP };
  }

  preview(frame: WidgetFrame, act: GestureAct, columns: number, rows: number): void {
    const { widgets } = this.#layout;
    const at = this.#at(frame);
    const { x, y, w, h } = widgets[at]!;
    this.#preview = act === "move" ? moved(widgets, at, x + columns, y + rows) : resized(widgets, at, w + columns, h + rows);
    this.#put(this.#preview);
  }

  commit(): void {
    const boxes = this.#preview;
    this.#preview = null;
    if (boxes) this.#reports.placed(boxes);
  }

  cancel(): void {
    this.#preview = null;
    this.#put(this.#layout.widgets);
  }

  nudge(frame: WidgetFrame, act: GestureAct, columns: number, rows: number): void {
    const { widgets } = this.#layout;
    const at = this.#at(frame);
    const { w, h } = widgets[at]!;
    const boxes = act === "move" ? nudged(widgets, at, columns, rows) : resized(widgets, at, w + columns, h + rows);
    this.#reports.placed(boxes);
    const box = boxes[at]!;
    setText(this.#said, `${frame.words}: column ${box.x + 1}, row ${box.y + 1}, ${box.w} wide, ${box.h} high`);
  }

  #at(frame: WidgetFrame): number {
    return this.#layout.widgets.findIndex(({ id }) => id === frame.spec.id);
  }

  #put(boxes: readonly GridBox[]): void {
    const order = readingOrder(boxes);
    order.forEach((at, place) => this.#frames.get(this.#layout.widgets[at]!.id)?.put(boxes[at]!, place));
  }

  #frameOf(widget: EditedWidget): void {
    const frame = this.#frames.get(widget.id);
    if (!frame) {
      this.#add(widget);
      return;
    }
    const { kind, title, options } = frame.spec;
    if (kind !== widget.kind || title !== widget.title || options !== widget.options) {
      this.#drawing.remove(frame.widget);
      frame.replace(widget, makeWidget(widget, this.#context));
      this.#drawing.add(frame.widget);
    }
    frame.spec = widget;
  }

  #add(widget: EditedWidget): void {
    const frame = new WidgetFrame(widget, makeWidget(widget, this.#context));
    this.#frames.set(widget.id, frame);
    this.#grid.append(frame.root);
    this.#drawing.add(frame.widget);
    attachGestures(frame, this);
    frame.edit.addEventListener("click", () => this.#reports.edit(frame.spec));
    frame.remove.addEventListener("click", () => this.#reports.remove(frame.spec));
  }

  #end(id: number, frame: WidgetFrame): void {
    this.#drawing.remove(frame.widget);
    frame.root.remove();
    this.#frames.delete(id);
  }

  #changed(widget: Widget): void {
    const frame = [...this.#frames.values()].find((one) => one.widget === widget);
    if (!frame) return;
    const { options } = widget.spec();
    // The widget shows it already: it is not made again.
    frame.spec = { ...frame.spec, options };
    this.#reports.changed(frame.spec, options);
    frame.rename(frame.spec);
  }
}
