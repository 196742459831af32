// What the widgets of all pages share: samples, definitions and cursors, and their way to the broker. Made once.
import { fetchDefinitions, BrokerFeed } from "./series-feed.ts";
import type { ConsoleState } from "./model/console-state.ts";
import { DefinitionStore } from "./model/definition-store.ts";
import { SeriesStore } from "./model/series-store.ts";
import type { TimeControl } from "./model/time-control.ts";
import { TimeCursors } from "./model/time-cursors.ts";
import type { WidgetContext } from "./widgets/widget.ts";

interface RoomActions {
  readonly state: ConsoleState;
  readonly time: TimeControl;
  readonly requestRender: () => void;
  readonly closed: (code: number, reason: string) => boolean;
}

export interface WidgetRoom {
  readonly feed: BrokerFeed;
  readonly context: Omit<WidgetContext, "changed">;
}

export function widgetRoom({ state, time, requestRender, closed }: RoomActions): WidgetRoom {
  let revision = 0;
  const changed = () => {
    revision += 1;
    requestRender();
  };
  const feed = new BrokerFeed({ receive: (text, first) => series.receive(text, first), closed });
  const series = new SeriesStore(feed, requestRender);
  const definitions = new DefinitionStore(fetchDefinitions, changed);
  const cursors = new TimeCursors();
  const context = {
    series, definitions, time, cursors, state,
    now: () => state.clock.now(performance.now()),
    mark: () => state.latest?.broker.mark ?? "",
    requestRender: changed,
    revision: () => revision,
  };
  return { feed, context };
}
