// What stands where no plot is yet: a search, and parameters that a person may want, each a click away. It draws nothing itself.
import { DrawnBefore } from "../model/drawn-before.ts";
import { Favourites } from "../model/favourites.ts";
import { legendNames } from "../model/legend-names.ts";
import { legible } from "../model/wording.ts";
import { fetchQuickLook } from "../quick-look-request.ts";
import { ParameterSearch } from "../widgets/parameter-search.ts";
import type { WidgetContext } from "../widgets/widget.ts";
import { element } from "./page.ts";

const SUGGESTED_MAX = 12;
const ROOM = 44;
/** A phone would cover half of the page with its keyboard. */
const HAS_KEYBOARD = matchMedia("(pointer: fine)");

export class PlotStart {
  readonly element = element("section", "plot-start panel");
  readonly #drawn = new DrawnBefore(storage());
  readonly #groups = element("div", "plot-start-groups");
  readonly #search: ParameterSearch;
  readonly #chosen: (names: readonly string[]) => void;
  #shows = 0;

  constructor({ definitions }: WidgetContext, chosen: (names: readonly string[]) => void) {
    this.#chosen = chosen;
    this.#search = new ParameterSearch(definitions, "Search a parameter to draw", { chosen: (name) => chosen([name]), ended: () => undefined });
    this.element.hidden = true;
    this.element.append(element("h3", "", "What do you want to see?"), this.#groups, this.#search.element);
  }

  /** Remembers what is drawn, to offer it another time. */
  remember(names: readonly string[]): void {
    this.#drawn.add(names);
  }

  show(isShown: boolean): void {
    if (this.element.hidden === !isShown) return;
    this.element.hidden = !isShown;
    if (!isShown) return;
    this.#search.begin();
    if (HAS_KEYBOARD.matches) this.#search.focus();
    void this.#suggest();
  }

  async #suggest(): Promise<void> {
    const shows = (this.#shows += 1);
    const own = [this.#group("Drawn before", single(this.#drawn.names)), this.#group("Favourites", single(new Favourites(storage()).names))];
    this.#groups.replaceChildren(...own.flat());
    const told = await fetchQuickLook();
    if (shows === this.#shows) this.#groups.append(...this.#group("Suggested", told?.plots ?? []));
  }

  /** Nothing of an empty group; a button for each plot. */
  #group(title: string, plots: readonly (readonly string[])[]): HTMLElement[] {
    if (plots.length === 0) return [];
    const made = element("div", "plot-start-group");
    made.role = "group";
    made.ariaLabel = title;
    const choices = element("div", "plot-start-choices");
    choices.append(...plots.slice(0, SUGGESTED_MAX).map((names) => this.#button(names)));
    made.append(element("span", "note", title), choices);
    return [made];
  }

  #button(names: readonly string[]): HTMLButtonElement {
    const made = element("button", "deed plot-start-choice");
    made.type = "button";
    made.dataset["draw"] = names.join(" ");
    made.append(element("bdi", "", legendNames(names.map(legible), Math.floor(ROOM / names.length)).join(", ")));
    made.title = legible(names.join(", "));
    made.addEventListener("click", () => this.#chosen(names));
    return made;
  }
}

function single(names: readonly string[]): string[][] {
  return names.map((name) => [name]);
}

/** A browser may refuse to keep anything. */
function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
