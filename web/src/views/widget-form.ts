// A dialog in which a person chooses what a widget shows: its kind, title and parameters. Names go in as text only.
import type { DefinitionStore } from "../model/definition-store.ts";
import { namesOf, TITLE_MAX, type WidgetOptions } from "../model/layout.ts";
import { kindWords } from "../model/widget-kinds.ts";
import { legible } from "../model/wording.ts";
import { widgetKinds } from "../widgets/make-widget.ts";
import { ParameterPicker } from "../widgets/parameter-picker.ts";
import { element, setText } from "./page.ts";

export interface WidgetChoice {
  readonly kind: string;
  readonly title: string;
  readonly options: WidgetOptions;
}

export class WidgetForm {
  readonly root = element("dialog", "widget-form");
  readonly #heading = element("h2");
  readonly #kind = element("select");
  readonly #sentence = element("p", "note");
  readonly #title = element("input");
  readonly #chosen = element("ol", "chosen-names");
  readonly #events = element("input");
  readonly #eventsRow = element("label", "form-check");
  readonly #said = element("p", "trouble");
  readonly #picker: ParameterPicker;
  #names: readonly string[] = [];
  #options: WidgetOptions = {};
  #done: (choice: WidgetChoice) => void = () => undefined;

  constructor(definitions: DefinitionStore) {
    this.#picker = new ParameterPicker(definitions, (name) => this.#add(name));
    for (const kind of widgetKinds()) {
      const option = element("option", "", kindWords(kind).title);
      option.value = kind;
      this.#kind.append(option);
    }
    this.#said.role = "alert";
    this.#title.maxLength = TITLE_MAX;
    this.#title.placeholder = "by its parameters";
    this.#events.type = "checkbox";
    this.#eventsRow.append(this.#events, " The broker's events, too");
    this.#kind.addEventListener("change", () => this.#describe());
    this.root.append(this.#form());
    this.root.addEventListener("close", () => this.root.remove());
  }

  /** Asks for a new widget, or for changes of one. */
  open(before: WidgetChoice | null, done: (choice: WidgetChoice) => void): void {
    this.#done = done;
    this.#options = before?.options ?? {};
    this.#names = namesOf(this.#options);
    this.#kind.value = before?.kind ?? widgetKinds()[0] ?? "";
    this.#title.value = before?.title ?? "";
    this.#events.checked = this.#options["source"] === "events";
    setText(this.#heading, before ? "Change the widget" : "Add a widget");
    setText(this.#said, "");
    this.#describe();
    this.#list();
    document.body.append(this.root);
    this.root.showModal();
  }

  #form(): HTMLFormElement {
    const form = element("form");
    const buttons = element("p", "form-buttons");
    const keep = element("button", "deed deed-first", "Done");
    const cancel = element("button", "deed", "Cancel");
    cancel.type = "button";
    cancel.addEventListener("click", () => this.root.close());
    buttons.append(keep, cancel);
    form.append(this.#heading, row("Kind", this.#kind), this.#sentence, row("Title", this.#title));
    form.append(this.#picker.button, this.#picker.panel, this.#chosen, this.#eventsRow, this.#said, buttons);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    return form;
  }

  #describe(): void {
    const { sentence, namesMax } = kindWords(this.#kind.value);
    setText(this.#sentence, namesMax > 1 ? `${sentence} Up to ${namesMax} parameters.` : sentence);
    this.#picker.button.hidden = this.#chosen.hidden = namesMax === 0;
    this.#eventsRow.hidden = this.#kind.value !== "log";
  }

  #add(name: string): void {
    if (!this.#names.includes(name)) this.#names = [...this.#names, name];
    this.#list();
  }

  #list(): void {
    this.#chosen.replaceChildren(...this.#names.map((name) => this.#item(name)));
  }

  #item(name: string): HTMLLIElement {
    const item = element("li");
    const remove = element("button", "close");
    remove.type = "button";
    remove.ariaLabel = `Remove ${legible(name)}`;
    remove.addEventListener("click", () => {
      this.#names = this.#names.filter((one) => one !== name);
      this.#list();
    });
    item.append(element("bdi", "", legible(name)), remove);
    return item;
  }

  #submit(): void {
    const kind = this.#kind.value;
    const { namesMin, namesMax, title } = kindWords(kind);
    const names = this.#names.slice(0, namesMax);
    if (names.length < namesMin) {
      setText(this.#said, `${title} needs ${namesMin === 1 ? "a parameter" : `${namesMin} parameters`}: add ${namesMin === 1 ? "one" : "them"} above.`);
      return;
    }
    const { source: _, ...rest } = this.#options;
    const source = kind === "log" && this.#events.checked ? { source: "events" } : {};
    // Control characters cannot be typed, but pasted.
    const plain = this.#title.value.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
    this.#done({ kind, title: plain, options: { ...rest, names, ...source } });
    this.root.close();
  }
}

function row(text: string, field: HTMLElement): HTMLLabelElement {
  const made = element("label", "form-row");
  made.append(element("span", "", text), field);
  return made;
}
