// The bar above a layout: its title, whether it is saved, and what can be done with it. It decides nothing.
import { TITLE_MAX } from "../model/layout.ts";
import { legible } from "../model/wording.ts";
import { element, setText } from "./page.ts";

export interface BarState {
  readonly title: string;
  /** Who saved it when, or that it is ready-made. */
  readonly note: string;
  readonly mayEdit: boolean;
  readonly mayCopy: boolean;
  readonly isEditing: boolean;
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  readonly isFull: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

export interface BarActions {
  readonly edit: (isEditing: boolean) => void;
  readonly add: () => void;
  readonly undo: () => void;
  readonly redo: () => void;
  readonly save: () => void;
  readonly copy: () => void;
  readonly retitle: (title: string) => void;
}

export class LayoutBar {
  readonly root = element("div", "layout-bar");
  readonly #heading = element("h2", "layout-title");
  readonly #title = element("input", "layout-title-field");
  readonly #note = element("p", "note");
  readonly #state = element("p", "layout-state");
  readonly #edit: HTMLButtonElement;
  readonly #add: HTMLButtonElement;
  readonly #undo: HTMLButtonElement;
  readonly #redo: HTMLButtonElement;
  readonly #save: HTMLButtonElement;
  readonly #copy: HTMLButtonElement;

  constructor(actions: BarActions) {
    const back = element("a", "layout-back", "All layouts");
    back.href = "#/layouts";
    this.#title.maxLength = TITLE_MAX;
    this.#title.ariaLabel = "Title of the layout";
    this.#title.addEventListener("change", () => actions.retitle(this.#title.value.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim()));
    this.#state.role = "status";
    this.#edit = deed("Edit", () => actions.edit(this.#edit.ariaPressed !== "true"));
    this.#add = deed("Add a widget", actions.add);
    this.#undo = deed("Undo", actions.undo);
    this.#redo = deed("Redo", actions.redo);
    this.#save = deed("Save", actions.save);
    this.#save.classList.add("deed-first");
    this.#copy = deed("Copy", actions.copy);
    const buttons = element("div", "layout-deeds");
    buttons.append(this.#add, this.#undo, this.#redo, this.#save, this.#copy, this.#edit);
    this.root.append(back, this.#heading, this.#title, this.#note, this.#state, buttons);
  }

  render(state: BarState): void {
    const { isEditing, isChanged, mayEdit } = state;
    setText(this.#heading, legible(state.title));
    this.#heading.hidden = isEditing;
    this.#title.hidden = !isEditing;
    if (document.activeElement !== this.#title && this.#title.value !== state.title) this.#title.value = state.title;
    setText(this.#note, state.note);
    setText(this.#state, isChanged ? "not saved" : "");
    this.#edit.hidden = !mayEdit;
    this.#edit.ariaPressed = String(isEditing);
    setText(this.#edit, isEditing ? "Done" : "Edit");
    this.#add.hidden = this.#undo.hidden = this.#redo.hidden = !isEditing;
    this.#add.disabled = state.isFull;
    this.#add.title = state.isFull ? "This layout is full" : "";
    this.#undo.disabled = !state.canUndo;
    this.#redo.disabled = !state.canRedo;
    this.#save.hidden = !mayEdit || (!isEditing && !isChanged);
    this.#save.disabled = !isChanged || state.isBusy;
    this.#copy.hidden = !state.mayCopy;
    this.#copy.disabled = state.isBusy;
  }
}

export function deed(text: string, act: () => void): HTMLButtonElement {
  const made = element("button", "deed", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
