// The words of a search for parameters, as the broker reads them. It changes one word and leaves the others as they are.

/** Kinds of words that name what a parameter has. */
export type WordKind = "unit" | "publisher" | "state" | "type";

interface Word {
  /** As it is written. */
  readonly text: string;
  /** Empty for a part of a name, or a filter. */
  readonly kind: string;
  readonly value: string;
}

const WORD = /(?:(unit|publisher|state|type|name):)?(?:"(.*?)"(?=\s|$)|(\S+))/gis;

function words(search: string): Word[] {
  return [...search.matchAll(WORD)].map(([text, kind = "", quoted, plain = ""]) => {
    const own = kind.toLowerCase();
    return { text, kind: own === "name" ? "" : own, value: quoted ?? plain };
  });
}

/** The first word of a kind; null if there is none. */
export function wordOf(search: string, kind: WordKind): string | null {
  return words(search).find((word) => word.kind === kind)?.value ?? null;
}

/** The search with this as its only word of a kind; null for none. */
export function withWord(search: string, kind: WordKind, value: string | null): string {
  const others = words(search).filter((word) => word.kind !== kind);
  const own = value === null ? [] : [`${kind}:${quoted(value)}`];
  return [...others.map(({ text }) => text), ...own].join(" ");
}

/** The branch of names that a search is narrowed to: `gripen/39-7` for `gripen/39-7/#`; null for none. */
export function branchOf(search: string): string | null {
  const found = words(search).find((word) => word.kind === "" && isBranch(word.value));
  return found ? found.value.slice(0, -2) : null;
}

/** The search narrowed to another branch; null for all. */
export function withBranch(search: string, path: string | null): string {
  const others = words(search).filter((word) => word.kind !== "" || !isBranch(word.value));
  const own = path === null ? [] : [quoted(`${path}/#`)];
  return [...own, ...others.map(({ text }) => text)].join(" ");
}

function isBranch(value: string): boolean {
  return value.endsWith("/#") && !/[+#]/.test(value.slice(0, -2));
}

function quoted(value: string): string {
  return value === "" || /\s/.test(value) || value.startsWith('"') ? `"${value}"` : value;
}
