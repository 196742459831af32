// The first page: what the parameters are now. Its connection lasts while a page of it may be shown.
import type { LiveConnection } from "../live-connection.ts";
import type { ParametersMessage } from "../model/contract.ts";
import type { ParameterStore } from "../model/parameter-store.ts";
import type { AlarmStrip } from "../views/alarm-strip.ts";
import { ParametersPanel } from "../views/parameters-panel.ts";
import { QuickLook } from "../views/quick-look.ts";
import type { Page, PageContext } from "./page.ts";
import { SectionPage } from "./section-page.ts";

interface Overview {
  page: Page;
  panel: ParametersPanel;
}

export function overview(
  store: ParameterStore,
  connection: () => LiveConnection<ParametersMessage>,
  requestRender: () => void,
  alarms: AlarmStrip,
): Overview {
  const panel = new ParametersPanel({
    request: (request) => {
      store.watch(request.first, request.count);
      connection().send(JSON.stringify(request));
    },
    moved: requestRender,
  });
  const page = new OverviewPage("", "Overview", ({ state }, now_ms) => {
    alarms.render(state.latest?.alarms ?? null, performance.now());
    panel.render(store, state.latest, now_ms);
  });
  return { page, panel };
}

/** The sections, and plots above them while the page is shown. */
class OverviewPage extends SectionPage {
  readonly #quickLook = new QuickLook();

  override show(root: HTMLElement, context: PageContext): void {
    super.show(root, context);
    this.#quickLook.show(context.widgets);
  }

  override hide(): void {
    super.hide();
    this.#quickLook.hide();
  }
}
