// One-off plots of chosen parameters: `#/plots?name=a&name=b`, together or (`split=1`) one below the other. The address has it all.
import { queryText } from "../model/time-address.ts";
import { element } from "../views/page.ts";
import { PlotStart } from "../views/plot-start.ts";
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
  #start: PlotStart | null = null;
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
    this.#start = new PlotStart(widgets, (names) => this.#draw(names));
    root.replaceChildren(head, this.#start.element, this.#sheet);
    this.#make(specsOf(query));
    this.#label();
  }

  render(): void {
    // The board draws by itself, with every frame that has something new.
  }

  hide(): void {
    this.#board?.close();
    this.#board = null;
    this.#start = null;
    this.#sheet.replaceChildren();
  }

  #draw(names: readonly string[]): void {
    this.#write(names, this.#isSplit);
    this.#make(specsOf(currentQuery()));
    this.#label();
  }

  /** Without a parameter there is no plot, but a choice of what to draw. */
  #make(all: readonly PlotSpec[]): void {
    if (!this.#widgets || !this.#board) return;
    const specs = all.filter(({ options }) => options["names"].length > 0);
    this.#start?.show(specs.length === 0);
    this.#start?.remember(specs.flatMap(({ options }) => options["names"]));
    for (const widget of this.#board.widgets) this.#board.remove(widget);
    this.#sheet.dataset["plots"] = String(specs.length);
    for (const spec of specs) this.#place(makeWidget(spec, this.#widgets), this.#board);
  }

  #place(widget: Widget, board: WidgetBoard): void {
    this.#sheet.append(widget.element);
    board.add(widget);
  }

  /** Names that a person added or removed go into the address; an emptied plot goes. */
  #changed(): void {
    const board = this.#board;
    if (!board) return;
    for (const widget of board.widgets) if (widget.names().length === 0) board.remove(widget);
    this.#sheet.dataset["plots"] = String(board.widgets.length);
    const [names, isSplit] = [board.widgets.flatMap((widget) => widget.names()), this.#isSplit];
    this.#write(names, isSplit);
    this.#start?.show(names.length === 0);
    this.#start?.remember(names);
    if (isSplit && board.widgets.some((widget) => widget.names().length > 1)) this.#make(specsOf(currentQuery()));
    this.#label();
  }

  get #names(): readonly string[] {
    return this.#board?.widgets.flatMap((widget) => widget.names()) ?? [];
  }

  get #isSplit(): boolean {
    return currentQuery().get("split") === "1";
  }

  #toggle(): void {
    this.#write(this.#names, !this.#isSplit);
    this.#make(specsOf(currentQuery()));
    this.#label();
  }

  #label(): void {
    this.#split.textContent = this.#isSplit ? "Draw in one plot" : "One plot each";
    this.#split.hidden = this.#names.length < 2;
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

interface PlotSpec extends WidgetSpec {
  readonly options: { readonly names: readonly string[] };
}

function specsOf(query: URLSearchParams): PlotSpec[] {
  const names = [...new Set(query.getAll("name"))].slice(0, LINES_MAX);
  const groups = query.get("split") === "1" && names.length > 1 ? names.map((name) => [name]) : [names];
  return groups.map((group) => ({ kind: "plot", title: "", options: { names: group } }));
}
