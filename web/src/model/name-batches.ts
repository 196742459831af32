// Many names in few requests: each with a bounded number of names, and an address that the broker takes.

/** Characters of all names in one address, as they are encoded. */
const CHARACTERS_MAX = 8_000;

/** Queries of the form `name=a&name=b`. A name that alone is longer is in one by itself. */
export function nameQueries(names: readonly string[], most: number): { names: string[]; query: string }[] {
  const made: { names: string[]; query: string }[] = [];
  for (const name of names) {
    const own = `name=${encodeURIComponent(name)}`;
    const last = made.at(-1);
    if (last && last.names.length < most && last.query.length + own.length < CHARACTERS_MAX) {
      last.names.push(name);
      last.query += `&${own}`;
    } else made.push({ names: [name], query: own });
  }
  return made;
}
