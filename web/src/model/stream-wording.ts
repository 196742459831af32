// Streams in words. Pure: the same input always gives the same words.
import type { StreamFigures, StreamRate } from "./contract.ts";
import { age, bytes, count, counted, legible, rate, UNKNOWN } from "./wording.ts";

export function extent({ streams, readers, lost, refused, shown }: StreamFigures): string {
  if (streams === 0) return "";
  const said = [shown.length === streams ? "" : `the first ${count(shown.length)} of ${count(streams)}`];
  said.push(readers === 1 ? "1 subscription reads them" : `${count(readers)} subscriptions read them`);
  said.push(lost === 0 ? "" : `readers have missed ${counted(lost, "chunk")}`);
  said.push(refused === 0 ? "" : `${counted(refused, "chunk")} refused`);
  return said.filter((one) => one !== "").join(" · ");
}

export function streamCells(stream: StreamRate, now_ms: number): string[] {
  return [
    legible(stream.name),
    legible(stream.media),
    stream.live ? "live" : "silent",
    count(stream.publishers),
    `${bytes(stream.kept_bytes)} of ${bytes(stream.buffer_bytes)}`,
    count(stream.kept_chunks),
    rate(stream.chunks_s),
    `${bytes(stream.bytes_s)}/s`,
    stream.received_ms === null ? UNKNOWN : age(now_ms - stream.received_ms),
  ];
}
