// Which lists of the live message a page shows. A list that nobody shows is not sent.

/** As the broker names them; all other fields are always sent. */
export type LivePart = "away" | "clients" | "events" | "prefixes" | "streams" | "values";

/** Of what the shown page and others need, without repeats and always in the same order. */
export function partsOf(...needs: readonly (readonly LivePart[])[]): LivePart[] {
  return [...new Set(needs.flat())].sort();
}

/** The address of a new connection. */
export function livePath(parts: readonly LivePart[]): string {
  return `api/live?parts=${parts.join(",")}`;
}

/** What an open connection is sent when another page is shown. */
export function partsRequest(parts: readonly LivePart[]): string {
  return JSON.stringify({ parts });
}
