// Boxes on a grid of 12 columns: moved and sized without overlaps, and as high up as they can stand. Never touches the page.

export const COLUMNS = 12;
export const HEIGHT_MAX = 40;
export const WIDTH_MIN = 2;
export const HEIGHT_MIN = 2;

export interface GridBox {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export function overlap(one: GridBox, other: GridBox): boolean {
  return one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
}

/** Within the columns, and neither too small nor too large. */
export function bounded({ x, y, w, h }: GridBox): GridBox {
  const width = between(w, WIDTH_MIN, COLUMNS);
  return { x: between(x, 0, COLUMNS - width), y: Math.max(0, y), w: width, h: between(h, HEIGHT_MIN, HEIGHT_MAX) };
}

/** The boxes in the order in which they are read. */
export function readingOrder(boxes: readonly GridBox[]): number[] {
  return boxes.map((_, at) => at).sort((one, other) => boxes[one]!.y - boxes[other]!.y || boxes[one]!.x - boxes[other]!.x || one - other);
}

/** Apart from each other, and each as high up as it can stand. `held` keeps its columns, and others make room for it. */
export function settled(boxes: readonly GridBox[], held = -1): GridBox[] {
  const apart = held < 0 ? boxes.map(bounded) : placed(boxes, held, false);
  return placed(apart, held, true);
}

/** One box at another place. */
export function moved(boxes: readonly GridBox[], at: number, x: number, y: number): GridBox[] {
  return changed(boxes, at, { ...boxes[at]!, x, y });
}

/** One box with another size; it does not leave the columns. */
export function resized(boxes: readonly GridBox[], at: number, w: number, h: number): GridBox[] {
  const { x, y } = boxes[at]!;
  return changed(boxes, at, { x, y, w: Math.min(w, COLUMNS - x), h });
}

/** One step in a direction; where the next place changes nothing, the first one that does. */
export function nudged(boxes: readonly GridBox[], at: number, dx: number, dy: number): GridBox[] {
  const { x, y } = boxes[at]!;
  const before = settled(boxes);
  for (let step = 1; step <= HEIGHT_MAX; step += 1) {
    const after = moved(boxes, at, x + dx * step, Math.max(0, y + dy * step));
    if (after.some((box, index) => !isSame(box, before[index]!))) return after;
  }
  return before;
}

/** The first place, from above, where a new box fits. */
export function firstPlace(boxes: readonly GridBox[], w: number, h: number): GridBox {
  for (let y = 0; ; y += 1) {
    for (let x = 0; x + w <= COLUMNS; x += 1) {
      const box = { x, y, w, h };
      if (!boxes.some((other) => overlap(box, other))) return box;
    }
  }
}

function changed(boxes: readonly GridBox[], at: number, box: GridBox): GridBox[] {
  return settled(boxes.map((other, index) => (index === at ? bounded(box) : other)), at);
}

/** The held box first, then all others as they are read: each below what is in its way, and up again if it may rise. */
function placed(boxes: readonly GridBox[], held: number, rises: boolean): GridBox[] {
  const result = boxes.map(bounded);
  const order = readingOrder(result);
  const first = held >= 0 && !rises ? [held, ...order.filter((at) => at !== held)] : order;
  const taken: GridBox[] = [];
  for (const at of first) {
    const box = rises ? risen(lowered(result[at]!, taken), taken) : madeRoom(result[at]!, taken, held >= 0 ? taken[0] : undefined);
    result[at] = box;
    taken.push(box);
  }
  return result;
}

/** Above the held box if it begins above it and fits there, so that what is dragged down changes places; else below. */
function madeRoom(box: GridBox, taken: readonly GridBox[], held: GridBox | undefined): GridBox {
  if (held && overlap(box, held) && box.y < held.y) {
    const above = { ...box, y: Math.max(0, held.y - box.h) };
    if (!taken.some((other) => overlap(above, other))) return above;
  }
  return lowered(box, taken);
}

function lowered(box: GridBox, taken: readonly GridBox[]): GridBox {
  let low = box;
  for (;;) {
    const inWay = taken.find((other) => overlap(low, other));
    if (!inWay) return low;
    low = { ...low, y: inWay.y + inWay.h };
  }
}

function risen(box: GridBox, taken: readonly GridBox[]): GridBox {
  const below = taken.filter(({ x, w, y, h }) => x < box.x + box.w && box.x < x + w && y + h <= box.y);
  return { ...box, y: below.reduce((low, { y, h }) => Math.max(low, y + h), 0) };
}

function isSame(one: GridBox, other: GridBox): boolean {
  return one.x === other.x && one.y === other.y && one.w === other.w && one.h === other.h;
}

function between(value: number, least: number, most: number): number {
  return Math.min(Math.max(Math.round(value), least), most);
}
