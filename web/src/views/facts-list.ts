// A list of terms and what is said of each. Text from strangers goes in as text only.
import type { Fact } from "../model/parameter-facts.ts";
import { element } from "./page.ts";

export class FactsList {
  readonly root = element("dl", "facts-list");
  #said = "";

  render(facts: readonly Fact[]): void {
    const wanted = JSON.stringify(facts);
    if (wanted === this.#said) return;
    this.#said = wanted;
    this.root.replaceChildren(...facts.map(pair));
  }
}

function pair([term, text]: Fact): HTMLElement {
  const made = element("div");
  made.append(element("dt", "", term), element("dd", "", text));
  return made;
}
