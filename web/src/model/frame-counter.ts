// Counts what drawing costs, for benchmarks: they read `window.slipringFrames`. It never draws.

export interface FrameFigures {
  /** Animation frames in which at least one widget was drawn. */
  frames: number;
  /** Widgets drawn, all frames together. */
  widgets: number;
  /** Time spent in drawing them. */
  drawing_ms: number;
  /** The longest time that one frame took to draw. */
  longest_ms: number;
  /** When the first value of a series was drawn, on the clock of `performance.now()`; null before. */
  first_value_ms: number | null;
}

export const frames: FrameFigures = { frames: 0, widgets: 0, drawing_ms: 0, longest_ms: 0, first_value_ms: null };

declare global {
  interface Window {
    slipringFrames: FrameFigures;
  }
}

export function countFrame(widgets: number, drawing_ms: number): void {
  frames.frames += 1;
  frames.widgets += widgets;
  frames.drawing_ms += drawing_ms;
  frames.longest_ms = Math.max(frames.longest_ms, drawing_ms);
}

/** Marks the first value that a person could see. */
export function countValue(): void {
  if (frames.first_value_ms !== null) return;
  frames.first_value_ms = performance.now();
  performance.mark("slipring-first-value");
}
