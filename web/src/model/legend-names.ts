// Names of lines in the room that a legend has: the end of a name says what it is, so its beginning goes first. Pure.
import { shortNames } from "./short-name.ts";

const LEFT_OUT = "…/";

/** One text for each name, in the same order; whole levels are left out at the beginning. Two names never get the same text. */
export function legendNames(names: readonly string[], room: number): string[] {
  const texts = names.map((name) => ending(name, room));
  const distinct = new Set(names).size;
  const isClear = texts.every((text) => text !== null) && new Set(texts).size === distinct;
  return isClear ? (texts as string[]) : shortNames(names, room);
}

/** The name, or the longest ending of whole levels that there is room for; null if not even the last level fits. */
function ending(name: string, room: number): string | null {
  if (name.length <= room) return name;
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
    const text = LEFT_OUT + name.slice(at + 1);
    if (text.length <= room && text.length > LEFT_OUT.length) return text;
  }
  return null;
}
