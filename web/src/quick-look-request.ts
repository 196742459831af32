// What the broker suggests to draw first, asked for over HTTP. It keeps nothing.
import { fields, list, orNull, parse, type TypeOf } from "./model/shape.ts";

const Limits = fields({
  low_critical: orNull("number"), low: orNull("number"), high: orNull("number"), high_critical: orNull("number"),
});
const Definition = fields({
  index: "number", name: "text", type: "text", unit: orNull("text"), description: orNull("text"),
  range: orNull("pair"), limits: orNull(Limits), rate_hz: orNull("number"), source: orNull("text"),
});
const QuickLookAnswer = fields({ plots: list(list("text")), definitions: list(Definition) });

/** Null if the broker does not answer, or has nobody to answer to. */
export async function fetchQuickLook(): Promise<TypeOf<typeof QuickLookAnswer> | null> {
  try {
    const answer = await fetch("api/quick-look");
    return answer.ok ? parse(QuickLookAnswer, await answer.text()) : null;
  } catch {
    return null;
  }
}
