// A column of names, shortened in the middle to what it has room for. The whole name is in the title and is what is heard.
import { shortNames } from "../model/short-name.ts";
import { setText, setTitle } from "./page.ts";

/** Until the column was seen. */
const ROOM_UNKNOWN = 40;
/** Names are in this font (`.name` in tables.css), so that their width is known without a look. */
const NAME_FONT = "13px ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const TEN = "0000000000";

export class NameColumn {
  #room = ROOM_UNKNOWN;
  #names: readonly string[] = [];
  #shown: readonly string[] = [];

  /** `measured` is as wide as the column; `otherwise` is asked where that has no width, as on a phone. */
  constructor(measured: HTMLElement, otherwise: HTMLElement) {
    const measure = () => {
      const width = measured.clientWidth || otherwise.clientWidth - 24;
      if (width > 0) this.#fit(Math.floor(width / characterWidth()));
    };
    const resized = new ResizeObserver(measure);
    resized.observe(measured);
    resized.observe(otherwise);
  }

  /** A text for each name; the same until the names or the room change. */
  shortened(names: readonly string[]): readonly string[] {
    if (!sameNames(names, this.#names)) {
      this.#names = names;
      this.#shown = shortNames(names, this.#room);
    }
    return this.#shown;
  }

  #fit(room: number): void {
    if (room === this.#room) return;
    this.#room = room;
    this.#names = [];
  }
}

/** Writes a name into a cell: short for the eye, whole for the pointer and for who listens. */
export function setName(cell: HTMLElement, name: string, short: string): void {
  setText(cell, short);
  setTitle(cell, name);
  const heard = short === name ? null : name;
  if (cell.ariaLabel !== heard) cell.ariaLabel = heard;
}

function sameNames(one: readonly string[], two: readonly string[]): boolean {
  if (one === two) return true;
  return one.length === two.length && one.every((name, index) => name === two[index]);
}

let width = 0;

function characterWidth(): number {
  if (width > 0) return width;
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 8;
  context.font = NAME_FONT;
  width = context.measureText(TEN).width / TEN.length;
  return width;
}
