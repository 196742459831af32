// The keys of the time control, on every page that shows it. Keys of fields, lists and buttons stay theirs.
import type { TimeControl } from "../model/time-control.ts";
import type { TimeCursors } from "../model/time-cursors.ts";
import { togglePlay } from "./time-bar.ts";

/** The same for a person to read, with the gestures on plots. */
export const TIME_KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["Space", "pause; play on from there"],
  ["L", "live"],
  ["← →", "earlier, later by a tenth of what is shown; with Shift by all of it"],
  ["+ −", "less time, more time"],
  ["A B", "place a cursor at the pointer, or in the middle"],
  ["Esc", "remove the cursors"],
];
export const PLOT_GESTURES: readonly (readonly [gesture: string, does: string])[] = [
  ["Drag", "on a plot: another time"],
  ["Shift+drag", "on a plot: zoom to a stretch of time"],
  ["Wheel", "or two fingers, on a plot: zoom. Where the page scrolls, click the plot first or hold Ctrl"],
  ["Click", "on a plot: cursor A, then B"],
];

interface TimeKeys {
  readonly time: TimeControl;
  readonly cursors: TimeCursors;
  /** Null while keys have nothing to do. */
  readonly now: () => number | null;
  readonly moved: () => void;
}

const STEP = 0.1;
const ZOOM = 1.5;

export function listenToKeys(keys: TimeKeys): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isTyping(event)) return;
    const now_ms = keys.now();
    if (now_ms === null || !act(event, keys, now_ms)) return;
    event.preventDefault();
    keys.moved();
  });
}

/** Whether the key was one of ours. */
function act({ key, shiftKey }: KeyboardEvent, { time, cursors }: TimeKeys, now_ms: number): boolean {
  const { from_ms, to_ms } = time.window(now_ms);
  const middle_ms = (from_ms + to_ms) / 2;
  const pointed_ms = cursors.hover_ms ?? middle_ms;
  const step_ms = time.span_ms * (shiftKey ? 1 : STEP);
  const acts: Record<string, () => void> = {
    " ": () => togglePlay(time, now_ms),
    ArrowLeft: () => time.move(-step_ms, now_ms),
    ArrowRight: () => time.move(step_ms, now_ms),
    "+": () => time.zoom(1 / ZOOM, pointed_ms, now_ms),
    "=": () => time.zoom(1 / ZOOM, pointed_ms, now_ms),
    "-": () => time.zoom(ZOOM, pointed_ms, now_ms),
    l: () => time.goLive(),
    L: () => time.goLive(),
    a: () => cursors.place("a", pointed_ms),
    b: () => cursors.place("b", pointed_ms),
    Escape: () => cursors.clear(),
  };
  const found = Object.hasOwn(acts, key) ? acts[key] : undefined;
  found?.();
  return found !== undefined;
}

function isTyping({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input:not([type='range']), textarea, select, dialog, [contenteditable]")) return true;
  if (target.closest("input[type='range'], [role='grid'], [role='tree'], [role='treegrid']")) return key.startsWith("Arrow") || key === " ";
  return key === " " && target.closest("button, a, summary") !== null;
}
