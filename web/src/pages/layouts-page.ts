// Layouts: all of them at #/layouts, and one at #/layouts/NAME. What is shown there is one view or the other.
import { fetchLayout, fetchRows, removeLayout, saveLayout } from "../layout-request.ts";
import type { LivePart } from "../model/live-parts.ts";
import { type LayoutDocument, type LayoutRow, nameFrom, TITLE_MAX } from "../model/layout.ts";
import { may } from "../model/visitor-wording.ts";
import { legible } from "../model/wording.ts";
import { LayoutList } from "../views/layout-list.ts";
import { Question } from "../views/question.ts";
import { LayoutView } from "./layout-view.ts";
import type { Page, PageContext } from "./page.ts";

export class LayoutsPage implements Page {
  readonly path = "layouts";
  readonly title = "Layouts";
  readonly #question = new Question();
  #root: HTMLElement | null = null;
  #context: PageContext | null = null;
  #view: LayoutView | null = null;
  #list: LayoutList | null = null;
  #rows: readonly LayoutRow[] = [];
  #shownFor = "";

  /** Lists that its widgets show. */
  parts(): readonly LivePart[] {
    return this.#view?.parts ?? [];
  }

  show(root: HTMLElement, context: PageContext, rest: string, query: URLSearchParams): void {
    this.#root = root;
    this.#context = context;
    this.#question.end();
    if (rest === "") this.#showList(root);
    else this.#showOne(root, context, rest, query.has("edit"));
  }

  render(): void {
    this.#view?.render();
    this.#renderList();
  }

  hide(): void {
    this.#view?.close();
    this.#view = null;
    this.#list = null;
    this.#root?.replaceChildren();
  }

  #showOne(root: HTMLElement, context: PageContext, name: string, isEditing: boolean): void {
    const copy = async (from: string, document: LayoutDocument) => this.#make(`${document.title || from} (copy)`, document);
    this.#view = new LayoutView(name, isEditing, context, { copy });
    root.replaceChildren(this.#view.root);
  }

  #showList(root: HTMLElement): void {
    this.#list = new LayoutList({
      copy: (row) => void this.#copy(row),
      rename: (row, title) => void this.#rename(row, title),
      remove: (row) => this.#askRemoval(row),
      make: (title) => void this.#told(this.#make(title, { title, widgets: [] })),
    });
    root.replaceChildren(this.#question.root, this.#list.root);
    this.#shownFor = "";
    void this.#fetch();
  }

  /** Only if the rows or the rights are others: a person may be in one of its fields. */
  #renderList(): void {
    const mayEdit = may(this.#context?.visitor() ?? null, "layouts");
    const wanted = JSON.stringify([mayEdit, this.#rows]);
    if (!this.#list || wanted === this.#shownFor) return;
    this.#shownFor = wanted;
    this.#list.show(this.#rows, mayEdit, Date.now());
  }

  async #fetch(): Promise<void> {
    const found = await fetchRows();
    if ("trouble" in found) this.#question.tell(found.trouble);
    else this.#rows = found;
    this.#shownFor = "";
    this.#renderList();
  }

  /** Saves a new layout and shows it; a sentence if that did not succeed. */
  async #make(title: string, document: LayoutDocument): Promise<string | null> {
    const rows = await fetchRows();
    if ("trouble" in rows) return rows.trouble;
    const short = [...title].slice(0, TITLE_MAX).join("");
    const name = nameFrom(short, rows.map((row) => row.name));
    const answer = await saveLayout(name, { ...document, title: short }, null);
    if ("conflict" in answer) return answer.conflict;
    if ("trouble" in answer) return answer.trouble;
    window.location.hash = `#/layouts/${name}?edit`;
    return null;
  }

  async #copy(row: LayoutRow): Promise<void> {
    const found = await fetchLayout(row.name);
    if ("trouble" in found) this.#question.tell(found.trouble);
    else await this.#told(this.#make(`${row.title} (copy)`, found.document));
  }

  async #rename(row: LayoutRow, title: string): Promise<void> {
    const found = await fetchLayout(row.name);
    if ("trouble" in found) return this.#question.tell(found.trouble);
    const answer = await saveLayout(row.name, { ...found.document, title }, found.changed_ms);
    if ("conflict" in answer) this.#question.tell(answer.conflict);
    else if ("trouble" in answer) this.#question.tell(answer.trouble);
    await this.#fetch();
  }

  #askRemoval(row: LayoutRow): void {
    this.#question.ask(`Delete "${legible(row.title)}"? Whoever has its address finds nothing there then.`, [
      { text: "Delete it", act: () => void this.#remove(row) },
      { text: "Keep it", act: () => undefined },
    ]);
  }

  async #remove(row: LayoutRow): Promise<void> {
    const trouble = await removeLayout(row.name);
    if (trouble) this.#question.tell(trouble.trouble);
    await this.#fetch();
  }

  async #told(making: Promise<string | null>): Promise<void> {
    const trouble = await making;
    if (trouble !== null) this.#question.tell(trouble);
  }
}
