// What the broker tells of parameters to a page that watches some of them: docs/console.md specifies it.

/** Values outside which somebody should look. */
export interface AlarmLimits {
  low_critical: number | null;
  low: number | null;
  high: number | null;
  high_critical: number | null;
}

export interface Definition {
  index: number;
  name: string;
  /** `bool`, `u8` to `i64`, `f32`, `f64`, `text`, `bytes` or `enum`. */
  type: string;
  unit: string | null;
  description: string | null;
  range: [number, number] | null;
  limits: AlarmLimits | null;
  rate_hz: number | null;
  source: string | null;
}

export interface Sample {
  index: number;
  /** A number that JSON has not, and an integer that JavaScript has not, is text; bytes are text in hex. */
  value: number | boolean | string;
  /** By the source; of a stale one when it became so. */
  time_ms: number;
  received_ms: number;
  quality: string;
  why: string | null;
}

export interface ParametersMessage {
  at_ms: number;
  /** What these rows were searched by. */
  search: string;
  /** How many the table has. */
  parameters: number;
  matching: number;
  /** All rows, where they are others than before, else null. */
  definitions: Definition[] | null;
  /** Those that changed. */
  values: Sample[];
}
