// Requests in words, and the life of one as a line of time. Pure: the same input always gives the same words.
import type { RequestFigures, RequestStatus, ServiceStatus, TopicRequests, WaitingTopic } from "./contract.ts";
import { age, bytes, clientName, count, counted, legible, UNKNOWN } from "./wording.ts";

/** A time with its significant digits: 0.12 ms, 35 ms, 1.2 s, 3 min. */
export function span(elapsed_ms: number | null): string {
  if (elapsed_ms === null) return UNKNOWN;
  const ms = Math.max(0, elapsed_ms);
  if (ms < 1_000) return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : age(ms);
}

export function requestsExtent({ open, services, room, states, p50_ms, p99_ms }: RequestFigures): string {
  const busy = states.find(({ state }) => state === "delivered")?.count ?? 0;
  const said = [`${count(open)} open`, `${counted(services, "service")}, ${count(busy)} of ${count(room)} busy`];
  if (p50_ms !== null) said.push(`answers p50 ${span(p50_ms)}, p99 ${span(p99_ms)}`);
  return said.join(" · ");
}

export function requestCells(request: RequestStatus, now_ms: number): string[] {
  return [
    legible(request.topic),
    request.state,
    clientName(request.asker),
    request.service === null ? UNKNOWN : clientName(request.service),
    request.priority,
    age(now_ms - request.asked_ms),
    request.ended_ms === null ? UNKNOWN : span(request.ended_ms - request.asked_ms),
  ];
}

export function serviceCells(service: ServiceStatus): string[] {
  return [
    clientName(service.client_id),
    service.connected ? "connected" : "away",
    `${count(service.busy)} of ${count(service.limit)}`,
    count(service.answered),
    count(service.failed),
    span(service.p50_ms),
    span(service.p99_ms),
  ];
}

export function topicCells({ topic, open, stored }: TopicRequests): string[] {
  return [legible(topic), count(open), count(stored)];
}

export function waitingCells(waiting: WaitingTopic): string[] {
  return [legible(waiting.topic), count(waiting.messages), bytes(waiting.bytes)];
}

/** One step of a request's life: when, what, and how long the part of the line is that begins with it. */
export interface LifeStep {
  at_ms: number;
  phase: "asked" | "stored" | "delivered" | "ended" | "left";
  what: string;
  /** Until the next step, or until now; 0 after the end. */
  lasts_ms: number;
}

/** The steps in their order. A request that is open has a last one: how long it is until it times out. */
export function life(request: RequestStatus, now_ms: number): LifeStep[] {
  const happened = (at_ms: number | null, phase: LifeStep["phase"], what: string): LifeStep[] =>
    at_ms === null ? [] : [{ at_ms, phase, what, lasts_ms: 0 }];
  const service = request.service === null ? "a service that has gone" : clientName(request.service);
  const steps = [
    ...happened(request.asked_ms, "asked", `asked by ${clientName(request.asker)}`),
    ...happened(request.stored_ms, "stored", "stored: waits for a service"),
    ...happened(request.delivered_ms, "delivered", `delivered to ${service}`),
    ...happened(request.ended_ms, "ended", endWords(request)),
  ].sort((one, other) => one.at_ms - other.at_ms);
  if (request.times_out_ms !== null) steps.push(...happened(now_ms, "left", "now"));
  steps.forEach((step, index) => {
    step.lasts_ms = Math.max(0, (steps[index + 1]?.at_ms ?? request.times_out_ms ?? step.at_ms) - step.at_ms);
  });
  return steps;
}

/** "+1.2 s" after the step before, for each step but the first. */
export function after(steps: LifeStep[], index: number): string {
  const before = steps[index - 1];
  return before === undefined ? "" : `+${span(before.lasts_ms)}`;
}

function endWords({ state, reason }: RequestStatus): string {
  if (reason !== null) return `${state}: ${legible(reason)}`;
  if (state === "answer stored") return "answered; the asker is away, so the answer is stored";
  return state === "answer delivered" ? "answered, and the asker has the answer" : state;
}
