// Which rows of a long table are in view, and where they stand. Pure arithmetic, also for tables taller than a browser can scroll.

/** Browsers lay out no taller element: beyond it a pixel of scrolling is more than a pixel of rows. */
export const HEIGHT_MAX = 8_000_000;
/** Rows beyond each edge of the view that exist. */
const BEYOND = 4;
/** Rows are asked for in whole steps, so that short scrolling asks for nothing, and pages ask for the same. */
export const STEP = 25;
/** What the broker sends at most. */
const ASKED_MAX = 200;

export interface Place {
  readonly scroll_top: number;
  readonly view_height: number;
  readonly row_height: number;
  readonly total: number;
}

export interface Span {
  readonly first: number;
  readonly count: number;
}

/** The height of the element that is scrolled. */
export function tableHeight(row_height: number, total: number): number {
  return Math.min(HEIGHT_MAX, row_height * total);
}

/** How many pixels of rows are above the view. */
function above({ scroll_top, view_height, row_height, total }: Place): number {
  const all = row_height * total;
  const shown = tableHeight(row_height, total);
  const scrollable = shown - view_height;
  return all <= shown || scrollable <= 0 ? scroll_top : (scroll_top / scrollable) * (all - view_height);
}

/** The rows that exist, and where the first of them stands in the scrolled element. */
export function drawn(place: Place): Span & { top: number } {
  const { scroll_top, view_height, row_height, total } = place;
  const hidden = above(place);
  const first = Math.max(0, Math.min(Math.floor(hidden / row_height) - BEYOND, total - 1));
  const count = Math.max(0, Math.min(rowsFor(view_height, row_height), total - first));
  return { first, count, top: scroll_top - hidden + first * row_height };
}

/** How many rows exist at most: the same number however far one scrolls. */
export function rowsFor(view_height: number, row_height: number): number {
  return Math.ceil(view_height / row_height) + 2 * BEYOND + 1;
}

/** The rows that are asked for: those in view, and a step more at each edge. */
export function asked(place: Place): Span {
  const { view_height, row_height } = place;
  const seen = above(place) / row_height;
  const first = Math.max(0, Math.floor(seen / STEP) * STEP - STEP);
  const end = Math.ceil((seen + view_height / row_height) / STEP) * STEP + STEP;
  return { first, count: Math.min(ASKED_MAX, end - first) };
}

/** Where to scroll so that a row is in view; the row of column names covers one row at the top. */
export function scrolledTo(place: Place, row: number): number {
  const { view_height, row_height, total } = place;
  const hidden = above(place);
  const top = row * row_height;
  const room = view_height - row_height;
  const wanted = top < hidden ? top : top + row_height > hidden + room ? top + row_height - room : hidden;
  const all = row_height * total;
  const shown = tableHeight(row_height, total);
  return all <= shown ? wanted : (wanted / (all - view_height)) * (shown - view_height);
}
