// The pages of the broker itself: which views stand on which, drawn from the newest live message.
import type { ConsoleVisitor } from "../model/contract.ts";
import { HISTORY_MS } from "../model/value-history.ts";
import { may } from "../model/visitor-wording.ts";
import { AuditPanel } from "../views/audit-panel.ts";
import { EventsList } from "../views/events-list.ts";
import { JournalPanel } from "../views/journal-panel.ts";
import { LimitsTable } from "../views/limits-table.ts";
import { MemoryPanel } from "../views/memory-panel.ts";
import { PinnedCharts } from "../views/pins.ts";
import { PrefixesTable } from "../views/prefixes-table.ts";
import { RequestsPanel } from "../views/requests-panel.ts";
import { part } from "../views/page.ts";
import { StreamsPanel } from "../views/streams-panel.ts";
import { renderTiles } from "../views/tiles.ts";
import { TopicDetail } from "../views/topic-detail.ts";
import { TrafficChart } from "../views/traffic-chart.ts";
import { ValuesTable } from "../views/values-table.ts";
import type { Page } from "./page.ts";
import { SectionPage } from "./section-page.ts";

export function brokerPage(visitor: () => ConsoleVisitor | null): Page {
  const traffic = new TrafficChart();
  const memory = new MemoryPanel((area) => may(visitor(), area));
  const limits = new LimitsTable();
  return new SectionPage("broker", "Broker", ({ state }, now_ms) => {
    if (state.latest) {
      renderTiles(state.latest);
      traffic.render(state.traffic, state.latest.rates, { from_ms: now_ms - HISTORY_MS, to_ms: now_ms });
    }
    memory.render(state.latest);
    limits.render(state.latest, now_ms);
  });
}

export function topicsPage(requestRender: () => void): Page {
  const pins = new PinnedCharts();
  const detail = new TopicDetail();
  part("pins").before(detail.root);
  const prefixes = new PrefixesTable();
  const streams = new StreamsPanel();
  const values = new ValuesTable({
    isPinned: (topic) => pins.has(topic),
    toggle: (record) => {
      pins.toggle(record);
      detail.choose(record.topic);
    },
    moved: requestRender,
  });
  return new SectionPage("topics", "Topics", ({ state }, now_ms) => {
    values.render(state, now_ms);
    detail.render(state.values, now_ms);
    pins.render(state.values, { from_ms: now_ms - HISTORY_MS, to_ms: now_ms });
    prefixes.render(state.latest);
    streams.render(state.latest, now_ms);
  }, { shown: ["values", "prefixes", "streams"], beyond: () => (pins.size > 0 ? ["values"] : []) });
}

export function storagePage(): Page {
  const journal = new JournalPanel();
  return new SectionPage("storage", "Storage", ({ state }) => journal.render(state.latest));
}

export function requestsPage(): Page {
  const requests = new RequestsPanel();
  return new SectionPage("requests", "Requests", ({ state }) => requests.render(state.latest));
}

export function eventsPage(visitor: () => ConsoleVisitor | null): Page {
  const events = new EventsList();
  const audit = new AuditPanel();
  return new SectionPage("events", "Events", ({ state }) => {
    audit.offer(may(visitor(), "access"));
    events.render(state.events);
  }, { shown: ["events"] });
}
