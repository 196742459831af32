// The first page: what the parameters are now. Its connection lasts while a page of it may be shown.
import type { LiveConnection } from "../live-connection.ts";
import type { ConsoleVisitor, ParametersMessage } from "../model/contract.ts";
import type { ParameterStore } from "../model/parameter-store.ts";
import { ParametersPanel } from "../views/parameters-panel.ts";
import type { Page } from "./page.ts";
import { SectionPage } from "./section-page.ts";

interface Overview {
  page: Page;
  panel: ParametersPanel;
}

export function overview(
  store: ParameterStore,
  connection: () => LiveConnection<ParametersMessage>,
  visitor: () => ConsoleVisitor | null,
  requestRender: () => void,
): Overview {
  const panel = new ParametersPanel(store, {
    request: (request) => connection().send(JSON.stringify(request)),
    moved: requestRender,
    watchesAll: () => visitor()?.watches === "all",
  });
  const page = new SectionPage(
    "",
    "Overview",
    ({ state, time }, now_ms) => panel.render(state.latest, time, now_ms),
    (query) => panel.follow(query),
  );
  return { page, panel };
}
