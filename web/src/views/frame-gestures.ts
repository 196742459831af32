// Moving and resizing a frame by pointer, touch and keyboard. It decides nothing: it asks for places in columns and rows.
import type { WidgetFrame } from "./widget-frame.ts";

/** What a gesture does to the board that it is on. */
export interface GestureBoard {
  /** The distance from one column to the next, and from one row to the next, in pixels. */
  steps(): { column: number; row: number };
  canArrange(): boolean;
  /** Shows where the frame would be, by columns and rows from where the gesture began. */
  preview(frame: WidgetFrame, act: GestureAct, columns: number, rows: number): void;
  /** Keeps what the preview shows. */
  commit(): void;
  /** Shows again what was. */
  cancel(): void;
  /** One step by keyboard. */
  nudge(frame: WidgetFrame, act: GestureAct, columns: number, rows: number): void;
}

export type GestureAct = "move" | "resize";

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** So near to the edge of the window the page moves along. */
const EDGE = 48;
const SCROLL = 14;

export function attachGestures(frame: WidgetFrame, board: GestureBoard): void {
  frame.head.addEventListener("pointerdown", (event) => {
    const onButton = event.target instanceof Element && event.target.closest("button:not(.frame-grip)") !== null;
    if (!onButton) begin(frame, board, "move", frame.head, event);
  });
  frame.corner.addEventListener("pointerdown", (event) => begin(frame, board, "resize", frame.corner, event));
  frame.grip.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow || !board.canArrange() || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    board.nudge(frame, event.shiftKey ? "resize" : "move", ...arrow);
    frame.grip.focus();
  });
}

function begin(frame: WidgetFrame, board: GestureBoard, act: GestureAct, from: HTMLElement, down: PointerEvent): void {
  if (!board.canArrange() || down.button !== 0) return;
  down.preventDefault();
  const steps = board.steps();
  const ended = new AbortController();
  const { signal } = ended;
  from.setPointerCapture(down.pointerId);
  frame.root.classList.add("frame-held");
  const end = (keeps: boolean) => {
    if (signal.aborted) return;
    ended.abort();
    frame.root.classList.remove("frame-held");
    if (keeps) board.commit();
    else board.cancel();
  };
  const follow = (event: PointerEvent) => {
    if (event.pointerId !== down.pointerId) return;
    board.preview(frame, act, Math.round((event.pageX - down.pageX) / steps.column), Math.round((event.pageY - down.pageY) / steps.row));
    if (event.clientY > window.innerHeight - EDGE) window.scrollBy(0, SCROLL);
    else if (event.clientY < EDGE) window.scrollBy(0, -SCROLL);
  };
  from.addEventListener("pointermove", follow, { signal });
  from.addEventListener("pointerup", (event) => end(event.pointerId === down.pointerId), { signal });
  from.addEventListener("pointercancel", () => end(false), { signal });
  from.addEventListener("lostpointercapture", () => end(false), { signal });
  window.addEventListener("keydown", (event) => event.key === "Escape" && end(false), { signal });
}
