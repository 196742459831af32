// The frame of a widget on a board: its title, what moves, changes and removes it, and the corner that resizes it.
import { shortNames } from "../model/short-name.ts";
import { namesOf } from "../model/layout.ts";
import type { EditedWidget } from "../model/layout-edit.ts";
import type { GridBox } from "../model/layout-grid.ts";
import { kindWords } from "../model/widget-kinds.ts";
import { legible } from "../model/wording.ts";
import type { Widget } from "../widgets/widget.ts";
import { element, setText, setTitle } from "./page.ts";

const TITLE_CHARACTERS = 40;

export class WidgetFrame {
  readonly root = element("section", "frame panel");
  readonly head = element("header", "frame-head");
  readonly body = element("div", "frame-body");
  readonly grip = button("frame-grip", "Move");
  readonly edit = button("frame-edit", "Change");
  readonly remove = button("frame-remove close", "Remove");
  readonly corner = element("div", "frame-corner");
  readonly #title = element("h3", "frame-title");
  widget: Widget;
  spec: EditedWidget;

  constructor(spec: EditedWidget, widget: Widget) {
    this.widget = widget;
    this.spec = spec;
    this.head.append(this.grip, this.#title, this.edit, this.remove);
    this.body.append(widget.element);
    this.root.append(this.head, this.body, this.corner);
    this.root.dataset["kind"] = spec.kind;
    this.rename(spec);
  }

  get words(): string {
    return this.#title.textContent ?? "";
  }

  /** The title, or what the widget is of. */
  rename(spec: EditedWidget): void {
    const names = namesOf(spec.options).map(legible);
    const [short] = shortNames(names.slice(0, 1), TITLE_CHARACTERS);
    const further = names.length > 1 ? ` +${names.length - 1}` : "";
    setText(this.#title, legible(spec.title) || (short ? short + further : kindWords(spec.kind).title));
    setTitle(this.#title, [legible(spec.title), ...names].filter(Boolean).join("\n"));
    this.root.ariaLabel = this.words;
    for (const [one, act] of [[this.grip, "Move or resize"], [this.edit, "Change"], [this.remove, "Remove"]] as const) {
      one.ariaLabel = `${act} ${this.words}`;
      one.title = act === "Move or resize" ? "Drag to move. Arrow keys move, Shift and arrow keys resize." : act;
    }
  }

  put({ x, y, w, h }: GridBox, order: number): void {
    const area = `${y + 1} / ${x + 1} / span ${h} / span ${w}`;
    if (this.root.dataset["area"] === area && this.root.style.order === String(order)) return;
    this.root.dataset["area"] = area;
    this.root.style.gridArea = area;
    this.root.style.setProperty("--rows", String(h));
    this.root.style.order = String(order);
  }

  replace(spec: EditedWidget, widget: Widget): void {
    this.spec = spec;
    this.widget = widget;
    this.root.dataset["kind"] = spec.kind;
    this.body.replaceChildren(widget.element);
    this.rename(spec);
  }
}

function button(className: string, label: string): HTMLButtonElement {
  const made = element("button", className);
  made.type = "button";
  made.ariaLabel = label;
  return made;
}
