// Where the boxes and lines of the data flow are: columns on a desk, one below the other on a phone. It draws nothing.

export const LINE_HEIGHT = 16;
export const BOX_PADDING = 9;
/** A name, two lines of figures and what is wrong. */
const BOX_HEIGHT = 4 * LINE_HEIGHT + 2 * BOX_PADDING;
const STEP = BOX_HEIGHT + 12;
const BROKER_HEIGHT = 6 * LINE_HEIGHT + 2 * BOX_PADDING;
const BROKER_WIDTH = 280;
const HEADING = 26;
const BETWEEN = 30;
/** Narrower pictures have publishers above the broker and subscribers below. */
const WIDE_MIN = 1_000;

/** Left edge, middle of the height, and width. */
export interface BoxPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Heading {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

type Rank = (index: number) => BoxPlace;

export interface Plan {
  readonly width: number;
  readonly height: number;
  readonly headings: readonly Heading[];
  readonly broker: BoxPlace;
  readonly journal: BoxPlace;
  readonly publisher: Rank;
  readonly subscriber: Rank;
  readonly consumer: Rank;
  /** The lines: of a publisher to the broker, of the broker to a subscriber, of the journal to its reader, and to it. */
  readonly from: (box: BoxPlace) => string;
  readonly to: (box: BoxPlace) => string;
  readonly read: (box: BoxPlace) => string;
  readonly record: string;
}

/** How many boxes of each kind there are. */
export interface Amounts {
  readonly publishers: number;
  readonly subscribers: number;
  readonly consumers: number;
}

const HEADINGS = ["Publishers", "Broker", "Subscribers", "Readers of the journal"] as const;

export function planOf(amounts: Amounts, width: number): Plan {
  return width >= WIDE_MIN ? widePlan(amounts, width) : narrowPlan(amounts, width);
}

function widePlan({ publishers, subscribers, consumers }: Amounts, width: number): Plan {
  const box = Math.min(360, Math.floor((width - BROKER_WIDTH) / 2 - 50));
  const right = width - box - 1;
  const readers_top = HEADING + Math.max(1, subscribers) * STEP + BETWEEN;
  const below = readers_top + Math.max(1, consumers) * STEP;
  const height = Math.max(HEADING + publishers * STEP, below, HEADING + BROKER_HEIGHT + BETWEEN + BOX_HEIGHT) + 4;
  const centre = (width - BROKER_WIDTH) / 2;
  const column = (x: number, top: number) => (index: number) => ({ x, y: top + index * STEP + BOX_HEIGHT / 2, width: box });
  const broker = { x: centre, y: HEADING + BROKER_HEIGHT / 2, width: BROKER_WIDTH };
  const journal = { ...broker, y: Math.max(readers_top + BOX_HEIGHT / 2, HEADING + BROKER_HEIGHT + BETWEEN + BOX_HEIGHT / 2) };
  const curve = (x: number, y: number, to_x: number, to_y: number) => `M${x} ${y}C${(x + to_x) / 2} ${y} ${(x + to_x) / 2} ${to_y} ${to_x} ${to_y}`;
  return {
    width, height, broker, journal,
    headings: [
      { text: HEADINGS[0], x: 1, y: 14 }, { text: HEADINGS[1], x: centre, y: 14 }, { text: HEADINGS[2], x: right, y: 14 },
      ...(consumers > 0 ? [{ text: HEADINGS[3], x: right, y: readers_top - 10 }] : []),
    ],
    publisher: column(1, HEADING), subscriber: column(right, HEADING), consumer: column(right, readers_top),
    from: (at) => curve(at.x + box, at.y, centre, broker.y),
    to: (at) => curve(centre + BROKER_WIDTH, broker.y, at.x, at.y),
    read: (at) => curve(centre + BROKER_WIDTH, journal.y, at.x, at.y),
    record: `M${centre + BROKER_WIDTH / 2} ${broker.y}V${journal.y}`,
  };
}

function narrowPlan({ publishers, subscribers, consumers }: Amounts, width: number): Plan {
  const gutter = 30;
  const broker_y = HEADING + publishers * STEP + BETWEEN + BROKER_HEIGHT / 2;
  const subscribers_top = broker_y + BROKER_HEIGHT / 2 + BETWEEN + HEADING;
  const journal_y = subscribers_top + subscribers * STEP + BETWEEN + BOX_HEIGHT / 2;
  const readers_top = journal_y + BOX_HEIGHT / 2 + BETWEEN + (consumers > 0 ? HEADING : 0);
  const row = (top: number) => (index: number) => ({ x: gutter, y: top + index * STEP + BOX_HEIGHT / 2, width: width - gutter - 1 });
  const across = { x: 1, width: width - 2 };
  const hang = (at: BoxPlace, to_y: number) => `M${gutter} ${at.y}H18V${to_y}`;
  return {
    width, height: readers_top + consumers * STEP,
    broker: { ...across, y: broker_y }, journal: { ...across, y: journal_y },
    headings: [
      { text: HEADINGS[0], x: gutter, y: 14 },
      ...(subscribers > 0 ? [{ text: HEADINGS[2], x: gutter, y: subscribers_top - 12 }] : []),
      ...(consumers > 0 ? [{ text: HEADINGS[3], x: gutter, y: readers_top - 12 }] : []),
    ],
    publisher: row(HEADING), subscriber: row(subscribers_top), consumer: row(readers_top),
    from: (at) => hang(at, broker_y), to: (at) => hang(at, broker_y), read: (at) => hang(at, journal_y),
    record: `M8 ${broker_y}V${journal_y}`,
  };
}
