// A layout while it is shown and changed: what was changed, back and forth, and whether it is saved. It sends nothing.
import { COLUMNS, firstPlace, type GridBox, HEIGHT_MAX, settled } from "./layout-grid.ts";
import { type LayoutDocument, type PlacedWidget, WIDGETS_MAX, type WidgetOptions } from "./layout.ts";
import { UndoStack } from "./undo-stack.ts";

/** A widget that keeps its number while it is moved: the page keeps its element. */
export interface EditedWidget extends PlacedWidget {
  readonly id: number;
}

export interface EditedLayout {
  readonly title: string;
  readonly widgets: readonly EditedWidget[];
}

export type WidgetChange = Partial<{ title: string; kind: string; options: WidgetOptions }>;

export class LayoutEdit {
  readonly #states: UndoStack<EditedLayout>;
  #saved: EditedLayout;
  #nextId = 1;

  constructor(document: LayoutDocument) {
    this.#saved = this.#edited(document);
    this.#states = new UndoStack(this.#saved);
  }

  get now(): EditedLayout {
    return this.#states.now;
  }

  get isChanged(): boolean {
    return this.now !== this.#saved;
  }

  get canUndo(): boolean {
    return this.#states.canUndo;
  }

  get canRedo(): boolean {
    return this.#states.canRedo;
  }

  get isFull(): boolean {
    return this.now.widgets.length >= WIDGETS_MAX;
  }

  /** What the broker keeps of it. */
  get document(): LayoutDocument {
    const widgets = this.now.widgets.map(({ kind, title, x, y, w, h, options }) => ({ kind, title, x, y, w, h, options }));
    return { title: this.now.title, widgets };
  }

  retitle(title: string): void {
    if (title !== this.now.title) this.#push({ ...this.now, title });
  }

  /** New places of all widgets, in their order. */
  place(boxes: readonly GridBox[]): void {
    const isSame = this.now.widgets.every(({ x, y, w, h }, at) => {
      const box = boxes[at]!;
      return box.x === x && box.y === y && box.w === w && box.h === h;
    });
    if (!isSame) this.#push({ ...this.now, widgets: placed(this.now.widgets, boxes) });
  }

  /** Adds a widget at the first place where it fits; its number. */
  add(kind: string, title: string, options: WidgetOptions, w: number, h: number): number {
    const size = { w: Math.min(w, COLUMNS), h: Math.min(h, HEIGHT_MAX) };
    const id = this.#nextId;
    this.#nextId += 1;
    const widget = { id, kind, title, options, ...firstPlace(this.now.widgets, size.w, size.h) };
    this.#push({ ...this.now, widgets: [...this.now.widgets, widget] });
    return id;
  }

  change(id: number, change: WidgetChange): void {
    this.#push({ ...this.now, widgets: this.now.widgets.map((one) => (one.id === id ? { ...one, ...change } : one)) });
  }

  remove(id: number): void {
    const left = this.now.widgets.filter((one) => one.id !== id);
    this.#push({ ...this.now, widgets: placed(left, settled(left)) });
  }

  undo(): void {
    this.#states.undo();
  }

  redo(): void {
    this.#states.redo();
  }

  /** Takes up a draft; going back leads to what is saved. */
  takeUp(document: LayoutDocument): void {
    this.#push(this.#edited(document));
  }

  /** This state has been saved. */
  saved(state: EditedLayout): void {
    this.#saved = state;
  }

  #push(next: EditedLayout): void {
    this.#states.push(next);
  }

  #edited({ title, widgets }: LayoutDocument): EditedLayout {
    const numbered = widgets.slice(0, WIDGETS_MAX).map((widget) => ({ ...widget, id: this.#nextId++ }));
    return { title, widgets: placed(numbered, settled(numbered)) };
  }
}

function placed(widgets: readonly EditedWidget[], boxes: readonly GridBox[]): EditedWidget[] {
  return widgets.map((widget, at) => {
    const { x, y, w, h } = boxes[at]!;
    return { ...widget, x, y, w, h };
  });
}
