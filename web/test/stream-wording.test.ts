// Streams in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveMessage, type StreamFigures } from "../src/model/contract.ts";
import { extent, streamCells } from "../src/model/stream-wording.ts";
import { blank } from "./blank.ts";

const STREAMS = LiveMessage.fields.streams;

const SOUND = blank(STREAMS.fields.shown.list, {
  name: "cockpit/sound",
  media: "audio/pcm",
  live: true,
  publishers: 1,
  kept_chunks: 16,
  kept_bytes: 65_536,
  buffer_bytes: 1_048_576,
  chunks_s: 12.5,
  bytes_s: 96_000,
  received_ms: 1_000,
});

function figures(changes: object): StreamFigures {
  return blank(STREAMS, { streams: 1, readers: 1, shown: [SOUND], ...changes });
}

test("a stream says what is kept of it and how it flows", () => {
  const cells = ["cockpit/sound", "audio/pcm", "live", "1", "65.5 kB of 1.0 MB", "16", "12.5", "96.0 kB/s", "2 s"];
  assert.deepEqual(streamCells(SOUND, 3_999), cells);
});

test("a silent stream without a chunk has no age", () => {
  const cells = streamCells({ ...SOUND, live: false, publishers: 0, received_ms: null }, 5_000);
  assert.deepEqual([cells[2], cells[3], cells[8]], ["silent", "0", "–"]);
});

test("what is not shown, missed or refused is said", () => {
  assert.equal(extent(figures({ streams: 0, shown: [] })), "");
  assert.equal(extent(figures({})), "1 subscription reads them");
  assert.equal(
    extent(figures({ streams: 300, readers: 2, lost: 1, refused: 1_200 })),
    "the first 1 of 300 · 2 subscriptions read them · readers have missed 1 chunk · 1,200 chunks refused",
  );
});
