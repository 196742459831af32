// What a person is told about each kind of widget, and how large a new one is. Which kinds there are is in make-widget.ts.

export interface WidgetKindWords {
  readonly title: string;
  readonly sentence: string;
  readonly w: number;
  readonly h: number;
  readonly namesMin: number;
  readonly namesMax: number;
}

const OTHER: WidgetKindWords = { title: "", sentence: "", w: 6, h: 5, namesMin: 0, namesMax: 24 };

const WORDS: Record<string, WidgetKindWords> = {
  plot: { title: "Plot", sentence: "Lines over time, with limits and axes for each unit.", w: 6, h: 6, namesMin: 1, namesMax: 24 },
  gauge: { title: "Gauge", sentence: "A needle over the range, with bands of the limits.", w: 3, h: 5, namesMin: 1, namesMax: 6 },
  number: { title: "Big number", sentence: "The value in large figures.", w: 2, h: 2, namesMin: 1, namesMax: 6 },
  xy: { title: "XY plot", sentence: "One parameter against another: the first to the right, the second up.", w: 4, h: 6, namesMin: 2, namesMax: 2 },
  states: { title: "State time line", sentence: "Booleans, enumerations and texts as bars over time.", w: 8, h: 5, namesMin: 1, namesMax: 24 },
  log: { title: "Text log", sentence: "Texts where they change, and the broker's events.", w: 4, h: 5, namesMin: 0, namesMax: 12 },
  table: { title: "Table", sentence: "Values with unit, age and state.", w: 4, h: 6, namesMin: 1, namesMax: 24 },
  broker: { title: "Broker figures", sentence: "Rates, clients and drops of the broker itself.", w: 12, h: 4, namesMin: 0, namesMax: 0 },
};

export function kindWords(kind: string): WidgetKindWords {
  return WORDS[kind] ?? { ...OTHER, title: kind };
}
