// The first page: what the parameters are now. Its connection lasts while a page of it may be shown.
import type { LiveConnection } from "../live-connection.ts";
import type { ParametersMessage } from "../model/contract.ts";
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
  requestRender: () => void,
): Overview {
  const panel = new ParametersPanel({
    request: (request) => {
      store.watch(request.first, request.count);
      connection().send(JSON.stringify(request));
    },
    moved: requestRender,
  });
  const page = new SectionPage("", "Overview", ({ state }, now_ms) => panel.render(store, state.latest, now_ms));
  return { page, panel };
}
