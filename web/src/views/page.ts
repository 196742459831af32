// The few ways in which views touch the page. Text only ever goes in as text: names come from strangers.

/** An element that index.html must have. */
export function part<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element with the id ${id}`);
  return found as T;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = "",
  text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** Writes only what changed: most of the page does not, and an untouched node costs no layout. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setData(node: HTMLElement, name: string, value: string): void {
  if (node.dataset[name] !== value) node.dataset[name] = value;
}

export function setTitle(node: HTMLElement | undefined, title: string): void {
  if (node && node.title !== title) node.title = title;
}

/** What an empty panel says: a sentence, and commands to copy by hand. */
export function explain(node: HTMLElement, sentence: string, commands: string[] = []): void {
  const wanted = [sentence, ...commands].join("\n");
  if (node.dataset["said"] === wanted) return;
  node.dataset["said"] = wanted;
  const lines = commands.map((command) => element("code", "command", command));
  node.replaceChildren(element("p", "", sentence), ...lines);
}
