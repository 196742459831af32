// One layout: shown, changed, saved. What is not saved is kept in the browser, and offered again after a reload.
import { fetchLayout, saveLayout } from "../layout-request.ts";
import { LayoutEdit } from "../model/layout-edit.ts";
import { type KeptLayout, type LayoutDocument, LayoutDrafts, WIDGETS_MAX } from "../model/layout.ts";
import type { LivePart } from "../model/live-parts.ts";
import { may } from "../model/visitor-wording.ts";
import { kindWords } from "../model/widget-kinds.ts";
import { legible, timeOfDay } from "../model/wording.ts";
import { type BarState, LayoutBar } from "../views/layout-bar.ts";
import { LayoutBoard } from "../views/layout-board.ts";
import { element, explain } from "../views/page.ts";
import { Question } from "../views/question.ts";
import { WidgetForm } from "../views/widget-form.ts";
import type { PageContext } from "./page.ts";

export interface LayoutViewActions {
  readonly copy: (name: string, document: LayoutDocument) => Promise<string | null>;
}

const NOTHING: Record<string, string> = {
  flight: "No parameter has a name like those of a flight: altitude, airspeed, load_factor, heading, phase.",
  engine: "No parameter has a name like those of an engine: rpm, egt, oil/pressure, fuel_flow, throttle.",
  fleet: "No parameter has a name by which a vehicle can be shown: altitude, speed, rpm, fuel, heading.",
};

export class LayoutView {
  readonly root = element("div", "layout-view");
  readonly #name: string;
  readonly #context: PageContext;
  readonly #actions: LayoutViewActions;
  readonly #drafts = new LayoutDrafts(window.localStorage);
  readonly #bar: LayoutBar;
  readonly #question = new Question();
  readonly #empty = element("div", "empty panel");
  readonly #board: LayoutBoard;
  readonly #form: WidgetForm;
  #kept: KeptLayout | null = null;
  #edit: LayoutEdit | null = null;
  #base_ms: number | null = null;
  #isEditing: boolean;
  #isBusy = false;
  #isClosed = false;

  constructor(name: string, isEditing: boolean, context: PageContext, actions: LayoutViewActions) {
    this.#name = name;
    this.#isEditing = isEditing;
    this.#context = context;
    this.#actions = actions;
    this.#form = new WidgetForm(context.widgets.definitions);
    this.#bar = new LayoutBar({
      edit: (edits) => this.#setEditing(edits),
      add: () => this.#add(),
      undo: () => this.#act((edit) => edit.undo()),
      redo: () => this.#act((edit) => edit.redo()),
      save: () => void this.#save(this.#base_ms),
      copy: () => void this.#copy(),
      retitle: (title) => this.#act((edit) => edit.retitle(title)),
    });
    this.#board = new LayoutBoard(context.widgets, {
      placed: (boxes) => this.#act((edit) => edit.place(boxes)),
      edit: (widget) => this.#form.open(widget, (choice) => this.#act((edit) => edit.change(widget.id, choice))),
      remove: ({ id }) => this.#act((edit) => edit.remove(id)),
      changed: ({ id }, options) => this.#act((edit) => edit.change(id, { options })),
    });
    this.#empty.hidden = true;
    this.root.append(this.#bar.root, this.#question.root, this.#empty, this.#board.root);
    this.root.addEventListener("keydown", (event) => this.#pressed(event));
    void this.#open();
  }

  /** Lists of the live message that its widgets show. */
  get parts(): readonly LivePart[] {
    const kinds = new Set(this.#edit?.now.widgets.map(({ kind }) => kind));
    return [...(kinds.has("broker") ? (["clients"] as const) : []), ...(kinds.has("log") ? (["events"] as const) : [])];
  }

  /** What the visitor may do can change while the page is open. */
  render(): void {
    if (this.#edit) this.#bar.render(this.#state(this.#edit));
  }

  close(): void {
    this.#isClosed = true;
    this.#form.root.remove();
    this.#board.close();
  }

  get #mayEdit(): boolean {
    const isOwn = this.#kept !== null && !this.#kept.is_ready_made && !this.#kept.is_narrowed;
    return isOwn && may(this.#context.visitor(), "layouts");
  }

  async #open(): Promise<void> {
    const found = await fetchLayout(this.#name);
    if (this.#isClosed) return;
    if ("trouble" in found) {
      this.#empty.hidden = false;
      explain(this.#empty, found.trouble);
      return;
    }
    this.#kept = found;
    this.#base_ms = found.changed_ms;
    this.#edit = new LayoutEdit(found.document);
    this.#offerDraft();
    this.#show();
  }

  #offerDraft(): void {
    const draft = this.#drafts.read(this.#name);
    if (draft === null) return;
    const since = draft.base_ms === this.#base_ms ? "" : " Somebody has saved the layout since then.";
    this.#question.ask(`You changed this layout at ${timeOfDay(draft.at_ms)} and did not save it.${since}`, [
      { text: "Go on with it", act: () => this.#takeUp(draft.document) },
      { text: "Throw it away", act: () => this.#drafts.forget(this.#name) },
    ]);
  }

  #takeUp(document: LayoutDocument): void {
    this.#isEditing = true;
    this.#act((edit) => edit.takeUp(document));
  }

  #setEditing(isEditing: boolean): void {
    this.#isEditing = isEditing;
    this.#show();
  }

  #add(): void {
    this.#form.open(null, ({ kind, title, options }) => {
      const { w, h } = kindWords(kind);
      let id = 0;
      this.#act((edit) => (id = edit.add(kind, title, options, w, h)));
      this.#board.focus(id);
    });
  }

  /** One change; it is kept in the browser until it is saved. */
  #act(change: (edit: LayoutEdit) => void): void {
    if (!this.#edit) return;
    change(this.#edit);
    if (this.#edit.isChanged && this.#mayEdit) {
      this.#drafts.write(this.#name, { document: this.#edit.document, base_ms: this.#base_ms, at_ms: Date.now() });
    } else {
      this.#drafts.forget(this.#name);
    }
    this.#show();
  }

  async #save(base_ms: number | null | "any"): Promise<void> {
    const edit = this.#edit;
    if (!edit || this.#isBusy || !this.#mayEdit) return;
    this.#isBusy = true;
    this.render();
    const state = edit.now;
    const answer = await saveLayout(this.#name, edit.document, base_ms);
    this.#isBusy = false;
    if ("conflict" in answer) this.#askConflict(answer.conflict);
    else if ("trouble" in answer) this.#question.tell(answer.trouble);
    else {
      this.#base_ms = answer.changed_ms;
      if (this.#kept) this.#kept = { ...this.#kept, changed_ms: answer.changed_ms, by: this.#context.visitor()?.user ?? null };
      edit.saved(state);
      if (!edit.isChanged) this.#drafts.forget(this.#name);
      this.#question.end();
    }
    this.render();
  }

  #askConflict(sentence: string): void {
    this.#question.ask(`${sentence} Your changes are not saved.`, [
      { text: "Overwrite it with mine", act: () => void this.#save("any") },
      { text: "Load the saved one", act: () => this.#reload() },
      { text: "Decide later", act: () => undefined },
    ]);
  }

  #reload(): void {
    this.#drafts.forget(this.#name);
    void this.#open();
  }

  async #copy(): Promise<void> {
    if (!this.#edit) return;
    this.#isBusy = true;
    this.render();
    const trouble = await this.#actions.copy(this.#name, this.#edit.document);
    this.#isBusy = false;
    if (trouble !== null) this.#question.tell(trouble);
    this.render();
  }

  #show(): void {
    const edit = this.#edit;
    if (!edit) return;
    this.#board.arrange(this.#isEditing && this.#mayEdit);
    this.#board.show(edit.now);
    const isEmpty = edit.now.widgets.length === 0;
    this.#empty.hidden = !isEmpty;
    if (isEmpty) explain(this.#empty, this.#nothing(), this.#kept?.is_ready_made ? ["slipring demo"] : []);
    this.render();
  }

  #nothing(): string {
    if (this.#kept?.is_ready_made) return `${NOTHING[this.#name] ?? ""} This ready-made layout fills itself when some are declared.`;
    return this.#mayEdit ? "Nothing here yet: press Edit, then add a widget." : "Nothing here yet.";
  }

  #state(edit: LayoutEdit): BarState {
    const { canUndo, canRedo, isChanged } = edit;
    const mayEdit = this.#mayEdit;
    return {
      title: edit.now.title || this.#name,
      note: this.#note(),
      mayEdit,
      mayCopy: may(this.#context.visitor(), "layouts") && !this.#kept?.is_narrowed,
      isEditing: this.#isEditing && mayEdit,
      isChanged: isChanged && mayEdit,
      isBusy: this.#isBusy,
      isFull: edit.now.widgets.length >= WIDGETS_MAX,
      canUndo, canRedo,
    };
  }

  #note(): string {
    const kept = this.#kept;
    if (!kept) return "";
    if (kept.is_ready_made) return "ready-made: copy it to change it";
    if (kept.is_narrowed) return "without the parameters that you may not watch";
    const by = kept.by === null ? "" : ` by ${legible(kept.by)}`;
    return kept.changed_ms === null ? "" : `saved ${timeOfDay(kept.changed_ms)}${by}`;
  }

  #pressed(event: KeyboardEvent): void {
    const isField = event.target instanceof HTMLInputElement;
    if (!this.#isEditing || isField || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key === "s") void this.#save(this.#base_ms);
    else if (key === "z") this.#act((edit) => (event.shiftKey ? edit.redo() : edit.undo()));
    else if (key === "y") this.#act((edit) => edit.redo());
    else return;
    event.preventDefault();
  }
}
