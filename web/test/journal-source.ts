// A journal as the broker tells it, for tests: nothing is known of it but what a test says.

const FIGURES = ["first_offset", "next_offset", "synced_offset", "bytes", "bytes_max", "segments", "not_journaled"];

export function journalSource(changes: object = {}): Record<string, unknown> {
  return {
    ...Object.fromEntries(FIGURES.map((name) => [name, null])),
    state: "ok",
    reason: null,
    advice: null,
    held_by: null,
    durability: { default: "disk", journaled: ["#"], rules: [] },
    acknowledged: { memory: 0, process: 0, disk: 0 },
    retention: { age_s: null, bytes: null, keep_unread: true },
    consumers: [],
    consumers_total: 0,
    receipt: null,
    ...changes,
  };
}
