// The first page: what the parameters are now. Its connection lasts while a page of it may be shown.
import type { LiveConnection } from "../live-connection.ts";
import type { ConsoleVisitor, ParametersMessage } from "../model/contract.ts";
import type { ParameterStore } from "../model/parameter-store.ts";
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
  visitor: () => ConsoleVisitor | null,
  requestRender: () => void,
): Overview {
  const panel = new ParametersPanel(store, {
    request: (request) => connection().send(JSON.stringify(request)),
    moved: requestRender,
    watchesAll: () => visitor()?.watches === "all",
  });
  const page = new OverviewPage(panel);
  return { page, panel };
}

/** The sections, and plots above them while the page is shown. */
class OverviewPage extends SectionPage {
  readonly #quickLook = new QuickLook();
  readonly #panel: ParametersPanel;

  constructor(panel: ParametersPanel) {
    super("", "Overview", ({ state, time }, now_ms) => panel.render(state.latest, time, now_ms));
    this.#panel = panel;
  }

  override show(root: HTMLElement, context: PageContext, rest: string, query: URLSearchParams): void {
    super.show(root, context, rest, query);
    this.#quickLook.show(context.widgets);
    this.#panel.follow(query);
  }

  override hide(): void {
    super.hide();
    this.#quickLook.hide();
  }
}
