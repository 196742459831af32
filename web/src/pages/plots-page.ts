// One-off plots of chosen parameters: `#/plots?name=a&name=b`, together or (`split=1`) one below the other. The address has it all.
import { queryText } from "../model/time-address.ts";
import { element } from "../views/page.ts";
import { makeWidget } from "../widgets/make-widget.ts";
import { LINES_MAX } from "../widgets/plot-widget.ts";
import type { Widget, WidgetContext, WidgetSpec } from "../widgets/widget.ts";
import { WidgetBoard } from "../widgets/widget-board.ts";
import type { Page, PageContext } from "./page.ts";

export class PlotsPage implements Page {
  readonly path = "plots";
  readonly title = "Plots";
  readonly #sheet = element("div", "plots");
  readonly #split = element("button", "plot-deed");
  #board: WidgetBoard | null = null;
  #widgets: WidgetContext | null = null;

  constructor() {
    this.#split.type = "button";
    this.#split.addEventListener("click", () => this.#toggle());
    this.#sheet.dataset["wheel"] = "zoom";
  }

  show(root: HTMLElement, { widgets }: PageContext, _rest: string, query: URLSearchParams): void {
    this.#widgets = { ...widgets, changed: () => this.#changed() };
    this.#board = new WidgetBoard(this.#widgets);
    const head = element("div", "plots-head");
    head.append(element("h2", "", "Plots"), element("p", "note", "The address of this page has its parameters and its time: share it."), this.#split);
    root.replaceChildren(head, this.#sheet);
    this.#make(specsOf(query));
    this.#label();
  }

  render(): void {
    // The board draws by itself, with every frame that has something new.
  }

  hide(): void {
    this.#board?.close();
    this.#board = null;
    this.#sheet.replaceChildren();
  }

  #make(specs: readonly WidgetSpec[]): void {
    if (!this.#widgets || !this.#board) return;
    for (const widget of this.#board.widgets) this.#board.remove(widget);
    this.#sheet.dataset["plots"] = String(specs.length);
    for (const spec of specs) this.#place(makeWidget(spec, this.#widgets), this.#board);
  }

  #place(widget: Widget, board: WidgetBoard): void {
    this.#sheet.append(widget.element);
    board.add(widget);
  }

  /** Names that a person added or removed go into the address; an emptied plot beside others goes. */
  #changed(): void {
    const board = this.#board;
    if (!board) return;
    for (const widget of board.widgets) if (widget.names().length === 0 && board.widgets.length > 1) board.remove(widget);
    this.#sheet.dataset["plots"] = String(board.widgets.length);
    const [names, isSplit] = [board.widgets.flatMap((widget) => widget.names()), this.#isSplit];
    this.#write(names, isSplit);
    if (isSplit && board.widgets.some((widget) => widget.names().length > 1)) this.#make(specsOf(currentQuery()));
    this.#label();
  }

  get #isSplit(): boolean {
    return currentQuery().get("split") === "1";
  }

  #toggle(): void {
    const names = this.#board?.widgets.flatMap((widget) => widget.names()) ?? [];
    this.#write(names, !this.#isSplit);
    this.#make(specsOf(currentQuery()));
    this.#label();
  }

  #label(): void {
    this.#split.textContent = this.#isSplit ? "Draw in one plot" : "One plot each";
    this.#split.hidden = (this.#board?.widgets.flatMap((widget) => widget.names()).length ?? 0) < 2;
  }

  #write(names: readonly string[], isSplit: boolean): void {
    const rest = [...currentQuery()].filter(([key]) => key !== "name" && key !== "split");
    const named = names.map((name): [string, string] => ["name", name]);
    const query = new URLSearchParams([...named, ...(isSplit ? [["split", "1"]] : []), ...rest]);
    history.replaceState(null, "", `#/plots${query.size > 0 ? `?${queryText(query)}` : ""}`);
  }
}

function currentQuery(): URLSearchParams {
  const { hash } = window.location;
  const at = hash.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : hash.slice(at + 1));
}

function specsOf(query: URLSearchParams): WidgetSpec[] {
  const names = [...new Set(query.getAll("name"))].slice(0, LINES_MAX);
  const groups = query.get("split") === "1" && names.length > 1 ? names.map((name) => [name]) : [names];
  return groups.map((group) => ({ kind: "plot", title: "", options: { names: group } }));
}
