// Names short enough for a column, with their middle left out. Two different names never get the same text.

/** A smaller room leaves nothing to tell names apart by. */
const ROOM_MIN = 9;
const CUT = "…";
/** Of a name whose middle has to be seen, each end gets this share of the room. */
const END_SHARE = 0.25;

interface Name {
  readonly name: string;
  readonly characters: readonly string[];
}

/**
 * One text for each name, in the same order. What fits stays as it is; of a longer one both ends are shown. Where names
 * would look the same, the part in which they differ is shown, too; where that is not enough, a short sum of the name.
 */
export function shortNames(names: readonly string[], room: number): string[] {
  const most = Math.max(ROOM_MIN, Math.floor(room));
  const distinct = [...new Set(names)].map((name) => ({ name, characters: [...name] }));
  const shown = new Map<string, string>();
  const taken = new Set<string>();
  const keep = ({ name }: Name, text: string) => {
    shown.set(name, text);
    taken.add(text);
  };
  const long = distinct.filter((one) => one.characters.length > most);
  for (const one of distinct) if (one.characters.length <= most) keep(one, one.name);
  const ways = [ends, differences, sums];
  let left = long;
  for (const way of ways) {
    const tried = way(left, most);
    const unlike = new Set(only(tried));
    left.forEach((one, index) => {
      const text = tried[index] ?? one.name;
      if (unlike.has(text) && !taken.has(text)) keep(one, text);
    });
    left = left.filter(({ name }) => !shown.has(name));
  }
  // A whole name is longer than every text above, so it is like none of them.
  return names.map((name) => shown.get(name) ?? name);
}

/** The texts that occur once. */
function only(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.filter((text) => counts.get(text) === 1);
}

/** `gripen/39-7/en…/rpm`: names are told apart by their ends more often than by their middle. */
function ends(names: readonly Name[], most: number): string[] {
  return names.map(({ characters }) => between(characters, most, CUT));
}

/** `gripen/…fan/speed…/rpm`: both ends, and where names with the same ends begin to differ. */
function differences(names: readonly Name[], most: number): string[] {
  const groups = Map.groupBy(names, ({ characters }) => between(characters, most, CUT));
  const end = Math.max(1, Math.floor(most * END_SHARE));
  const middle = most - 2 * end - 2 * CUT.length;
  const starts = new Map([...groups].map(([text, group]) => [text, sharedStart(group)]));
  return names.map(({ characters }) => {
    const from = Math.max(end, starts.get(between(characters, most, CUT)) ?? end);
    const to = Math.min(from + middle, characters.length - end);
    const head = characters.slice(0, end).join("");
    const tail = characters.slice(characters.length - end).join("");
    return head + CUT + characters.slice(from, Math.max(from, to)).join("") + CUT + tail;
  });
}

/** `gripen/…1x8c2kd…/rpm`: the sum stays the same whatever other names there are. */
function sums(names: readonly Name[], most: number): string[] {
  return names.map(({ name, characters }) => between(characters, most, `${CUT}${sum(name).slice(0, most - 4)}${CUT}`));
}

function between(characters: readonly string[], most: number, middle: string): string {
  const left = Math.max(0, most - [...middle].length);
  const tail = Math.floor(left / 2);
  return characters.slice(0, left - tail).join("") + middle + characters.slice(characters.length - tail).join("");
}

/** How many characters all of them begin with. */
function sharedStart(group: readonly Name[]): number {
  const [first, ...others] = group;
  if (!first) return 0;
  const differ = (at: number) => others.some(({ characters }) => characters[at] !== first.characters[at]);
  let at = 0;
  while (at < first.characters.length && !differ(at)) at += 1;
  return at;
}

/** FNV-1a with 32 bits, in letters and digits. */
function sum(name: string): string {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(36);
}
