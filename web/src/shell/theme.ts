// The button for dark and light. The choice is kept in this browser; the style sheets read it from the root element.
import { nextChoice, shownTheme, themeChoice, themeWords, type ThemeChoice } from "../model/theme-choice.ts";
import { part } from "../views/page.ts";

const KEPT_AS = "slipring-theme";
const SIGNS: Record<ThemeChoice, string> = { system: "◐", dark: "●", light: "○" };

export class Theme {
  readonly #button = part<HTMLButtonElement>("theme");
  readonly #system = matchMedia("(prefers-color-scheme: dark)");
  readonly #changed: () => void;
  #choice: ThemeChoice = themeChoice(kept());

  /** `changed`: what draws on canvases has to draw again. */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.#button.addEventListener("click", () => {
      this.#choice = nextChoice(this.#choice);
      keep(this.#choice);
      this.#apply();
    });
    this.#system.addEventListener("change", () => this.#apply());
    this.#apply();
  }

  #apply(): void {
    document.documentElement.dataset["theme"] = shownTheme(this.#choice, this.#system.matches);
    this.#button.textContent = SIGNS[this.#choice];
    this.#button.ariaLabel = this.#button.title = themeWords(this.#choice);
    this.#changed();
  }
}

/** A browser may forbid pages to keep anything. */
function kept(): string | null {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

function keep(choice: ThemeChoice): void {
  try {
    localStorage.setItem(KEPT_AS, choice);
  } catch {
    // It is then chosen again with the next visit.
  }
}
