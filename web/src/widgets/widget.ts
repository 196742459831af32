// What a widget of the console is, and what it is given. A widget never fetches samples: it reads them from the store.
import type { ConsoleState } from "../model/console-state.ts";
import type { DefinitionStore } from "../model/definition-store.ts";
import type { SeriesStore } from "../model/series-store.ts";
import type { TimeControl } from "../model/time-control.ts";
import type { TimeCursors } from "../model/time-cursors.ts";

/** From what a widget is made, and made again: layouts keep it. */
export interface WidgetSpec {
  readonly kind: string;
  readonly title: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a widget is given. */
export interface WidgetContext {
  /** The samples of all widgets of the page. */
  readonly series: SeriesStore;
  /** Unit, limits, labels and description of a parameter by its name. */
  readonly definitions: DefinitionStore;
  /** Which time is shown: `time.window(now_ms)` is what a widget draws, up to `time.shown(now_ms)`. */
  readonly time: TimeControl;
  /** The newest live message and the broker's events. */
  readonly state: ConsoleState;
  /** The time under the pointer and cursors A and B, the same on all widgets. */
  readonly cursors: TimeCursors;
  /** The broker's clock; null before its first message. */
  readonly now: () => number | null;
  /** How exported pictures are marked, such as DEMO DATA; empty for no mark. */
  readonly mark: () => string;
  /** Asks for `render` with the next frame although neither time nor samples changed. */
  readonly requestRender: () => void;
  /** Another number after each such request. */
  readonly revision: () => number;
  /** A person changed what `spec` gives: other parameters, another option. */
  readonly changed: (widget: Widget) => void;
}

/** One widget. Its board (widget-board.ts) calls `render` at most 30 times a second, and only while it can be seen. */
export interface Widget {
  readonly element: HTMLElement;
  /** The parameters whose samples it draws. */
  names(): readonly string[];
  /** How many columns of a screen it draws; a few hundred if it does not say. */
  readonly columns?: number;
  /** From what the same widget can be made again. */
  spec(): WidgetSpec;
  /** Draws; `now_ms` is the broker's clock. */
  render(now_ms: number): void;
  /** Its element has another size. */
  resize(): void;
  /** Ends observers and timers, and removes its element. */
  destroy(): void;
}

export type MakeWidget = (spec: WidgetSpec, context: WidgetContext) => Widget;
