// What all widgets of the console share: one store of samples with its connection, definitions, time and cursors.
import type { ConsoleState } from "../model/console-state.ts";
import { DefinitionStore } from "../model/definition-store.ts";
import { frames } from "../model/frame-counter.ts";
import { SeriesStore } from "../model/series-store.ts";
import type { TimeControl } from "../model/time-control.ts";
import { TimeCursors } from "../model/time-cursors.ts";
import { BrokerFeed, fetchDefinitions } from "../series-feed.ts";
import type { WidgetContext } from "./widget.ts";

interface ConsoleParts {
  readonly state: ConsoleState;
  readonly time: TimeControl;
  readonly now: () => number | null;
  /** The broker closed the connection; true if the page must not connect again. */
  readonly closed: (code: number, reason: string) => boolean;
}

interface ConsoleWidgets {
  readonly context: WidgetContext;
  readonly feed: BrokerFeed;
}

export function consoleWidgets({ state, time, now, closed }: ConsoleParts): ConsoleWidgets {
  let redraws = 0;
  window.slipringFrames = frames;
  const requestRender = () => {
    redraws += 1;
  };
  const feed = new BrokerFeed({ receive: (text, first) => series.receive(text, first), closed });
  const series: SeriesStore = new SeriesStore(feed, requestRender);
  const context: WidgetContext = {
    series,
    definitions: new DefinitionStore(fetchDefinitions, requestRender),
    time,
    state,
    cursors: new TimeCursors(),
    now,
    mark: () => state.latest?.broker.mark ?? "",
    revision: () => redraws,
    requestRender,
    changed: requestRender,
  };
  return { context, feed };
}
