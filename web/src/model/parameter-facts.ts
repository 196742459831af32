// One parameter as its drawer tells it: facts, limits, who publishes and reads it, its statistics. Words only.
import type { ParameterDefinition, ParameterMessage } from "./contract.ts";
import { valueText } from "./parameter-value.ts";
import { limitsOf } from "./parameter-wording.ts";
import type { Statistics } from "./statistics.ts";
import { unitText } from "./unit-wording.ts";
import { clientName, count, counted, legible, rate, reading } from "./wording.ts";

/** What is said, and of what. */
export type Fact = readonly [term: string, text: string];

export function definitionFacts({ definition, labels }: Pick<ParameterMessage, "definition" | "labels">): Fact[] {
  const { description, type, unit, range, rate_hz, source, index } = definition;
  const facts: [string, string | null][] = [
    ["Description", description],
    ["Type", labels.length > 0 ? `${type}: ${labels.join(", ")}` : type],
    ["Unit", unit === null ? null : unitText(unit) === unit ? unit : `${unitText(unit) || "none"} (${unit})`],
    ["Range", range && `${range[0]} to ${range[1]}`],
    ["Limits", limitsOf(definition)],
    ["Declared rate", rate_hz === null ? null : `${rate_hz} Hz`],
    ["Measured by", source],
    ["Index", String(index)],
  ];
  return facts.flatMap(([term, text]) => (text === null ? [] : [[term, legible(text)] as const]));
}

/** Who declared it and who reads it. A visitor who may watch only some topics is told of nobody. */
export function peopleFacts(told: ParameterMessage, watches_all: boolean): Fact[] {
  if (!watches_all) return [["Clients", "To see them takes the right to watch everything."]];
  const publishers = told.publishers.map(({ client_id, connected }) => clientName(client_id) + (connected ? "" : " (away)"));
  const selections = told.selections.map(({ client_id, connected, filter, rate_hz }) => {
    const often = rate_hz === null ? "every sample" : `at ${rate(rate_hz)} Hz`;
    return `${clientName(client_id)}${connected ? "" : " (away)"}: ${legible(filter)}, ${often}`;
  });
  const subscribers = told.subscribers.map(
    ({ client_id, connected, filter }) => `${clientName(client_id)}${connected ? "" : " (away)"}: ${legible(filter)}`,
  );
  return [
    ["Published by", listed(publishers, publishers.length, "nobody")],
    ["Selected by", listed(selections, told.selections_total, "nobody")],
    ["Subscribed to by", listed(subscribers, told.subscribers_total, "nobody")],
  ];
}

function listed(texts: readonly string[], total: number, none: string): string {
  if (texts.length === 0) return none;
  const more = total - texts.length;
  return texts.join("\n") + (more > 0 ? `\nand ${count(more)} more` : "");
}

/** Of the shown window. */
export function statisticsFacts(
  definition: ParameterDefinition,
  found: Statistics | null,
  step_ms: number,
  measured_hz: number | null,
): Fact[] {
  if (found === null) return [["Samples", "none in the shown time"]];
  const { type, range, unit } = definition;
  const told = (value: number) => valueText(type, value, range) + (unitText(unit) === "" ? "" : ` ${unitText(unit)}`);
  const mean = valueText("f64", found.mean, range) + (unitText(unit) === "" ? "" : ` ${unitText(unit)}`);
  const hz = found.rate_hz ?? measured_hz;
  const rated: Fact[] = hz === null ? [] : [["Rate", `${rate(hz)} Hz`]];
  const amount = step_ms > 0 ? `in ${counted(found.count, "part")} of ${reading(step_ms / 1_000)} s` : count(found.count);
  return [["Lowest", told(found.min)], ["Highest", told(found.max)], ["Mean", mean], ["Last", told(found.last)], ["Samples", amount], ...rated];
}
