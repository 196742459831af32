// What a page of the console is, and what it is given. A page never opens a connection of its own to the live message.
import type { ConsoleState } from "../model/console-state.ts";
import type { ConsoleVisitor } from "../model/contract.ts";
import type { LivePart } from "../model/live-parts.ts";
import type { TimeControl } from "../model/time-control.ts";
import type { WidgetContext } from "../widgets/widget.ts";

/** What the console gives to each of its pages. */
export interface PageContext {
  /** The newest live message, its clock, and what was gathered from earlier ones. */
  readonly state: ConsoleState;
  /** Which time is shown, on every page. */
  readonly time: TimeControl;
  /** What widgets need: samples, definitions, time and cursors. */
  readonly widgets: WidgetContext;
  /** Who looks; null until the broker has said it. */
  readonly visitor: () => ConsoleVisitor | null;
  /** Asks for a drawing with the next animation frame. */
  readonly requestRender: () => void;
}

/** One page; it is shown while the address has its path. */
export interface Page {
  /** What follows `#/` in the address: `clients`, or `layouts/flight` for `layouts` with the rest `flight`. */
  readonly path: string;
  /** Its name in the navigation. */
  readonly title: string;
  /** Lists of the live message that it shows; nothing for none. It is asked again after each drawing. */
  readonly parts?: () => readonly LivePart[];
  /** Lists that it needs while another page is shown, such as values that it keeps the past of. */
  readonly partsBeyond?: () => readonly LivePart[];
  /** Whether the navigation has it now; without this it always has. */
  readonly isOffered?: () => boolean;
  /** Builds the page in an empty element, when it is shown; `rest` and `query` are what follows its path. */
  show(root: HTMLElement, context: PageContext, rest: string, query: URLSearchParams): void;
  /** Draws; called at most once for each animation frame while the page is shown. `now_ms` is the broker's clock. */
  render(now_ms: number): void;
  /** Ends what `show` began: connections, observers, timers. */
  hide(): void;
}
