// Names without the levels that all of them begin with: beside each other, only the rest tells them apart. Pure.
import { shortNames } from "./short-name.ts";
import { legible } from "./wording.ts";

/** Labels for names that stand together, with room for so many characters. */
export function labels(names: readonly string[], room: number): string[] {
  return shortNames(relativeNames(names).map(legible), room);
}

/** Whole levels are left out, and each name keeps one at least. A name alone stays as it is. */
export function relativeNames(names: readonly string[]): string[] {
  const [first, ...others] = names.map((name) => name.split("/"));
  if (first === undefined || others.length === 0) return [...names];
  let shared = 0;
  while (shared < first.length - 1 && others.every((levels) => levels.length > shared + 1 && levels[shared] === first[shared])) shared += 1;
  return names.map((name) => name.split("/").slice(shared).join("/"));
}
