// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, orNull, type TypeOf } from "../shape.ts";
import { SelectionStatus, SubscriberStatus } from "./requests.ts";

/** Alarm limits; null if there is no such limit. */
export const AlarmBounds = fields({
  low_critical: orNull("number"), low: orNull("number"), high: orNull("number"), high_critical: orNull("number"),
});
export type AlarmBounds = TypeOf<typeof AlarmBounds>;

/** A parameter's definition; null is what it does not say. */
export const ParameterDefinition = fields({
  index: "number", name: "text", type: "text", unit: orNull("text"), description: orNull("text"),
  range: orNull("pair"), limits: orNull(AlarmBounds), rate_hz: orNull("number"), source: orNull("text"),
});
export type ParameterDefinition = TypeOf<typeof ParameterDefinition>;

/** A parameter's newest value. */
export const ParameterSample = fields({
  index: "number", value: "scalar", time_ms: "number", received_ms: "number", quality: "text", why: orNull("text"),
});
export type ParameterSample = TypeOf<typeof ParameterSample>;

/** The parameters that a search finds. */
export const ParametersMessage = fields({
  at_ms: "number", search: "text", sort: "text", first: "number", parameters: "number", matching: "number",
  problem: orNull("text"), definitions: orNull(list(ParameterDefinition)), values: list(ParameterSample),
});
export type ParametersMessage = TypeOf<typeof ParametersMessage>;

/** One level below a branch of the names. */
export const ParameterBranch = fields({
  level: "text", parameters: "number", has_more: "truth", is_parameter: "truth",
});
export type ParameterBranch = TypeOf<typeof ParameterBranch>;

/** The levels below a branch of the names. */
export const BranchesMessage = fields({
  branches: list(ParameterBranch), total: "number",
});
export type BranchesMessage = TypeOf<typeof BranchesMessage>;

/** A word that a search can have, and how many parameters have it. */
export const WordCount = fields({
  word: "text", parameters: "number",
});
export type WordCount = TypeOf<typeof WordCount>;

/** What searches can be by. */
export const WordsMessage = fields({
  units: list(WordCount), publishers: list(WordCount),
});
export type WordsMessage = TypeOf<typeof WordsMessage>;

/** A publisher of a parameter. */
export const PublisherName = fields({
  client_id: "text", connected: "truth",
});
export type PublisherName = TypeOf<typeof PublisherName>;

/** A command to copy. */
export const CopyLine = fields({
  title: "text", text: "text",
});
export type CopyLine = TypeOf<typeof CopyLine>;

/** One parameter, with who publishes and who reads it. */
export const ParameterMessage = fields({
  at_ms: "number", definition: ParameterDefinition, labels: list("text"), value: orNull(ParameterSample),
  publishers: list(PublisherName), subscribers: list(SubscriberStatus), subscribers_total: "number",
  selections: list(SelectionStatus), selections_total: "number", lines: list(CopyLine),
});
export type ParameterMessage = TypeOf<typeof ParameterMessage>;
