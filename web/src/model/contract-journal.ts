// What the broker tells of its journal: what it promises, what there is, who reads it, what the start found.

export const STATES = ["ok", "full", "failed", "off"] as const;
export const LEVELS = ["memory", "process", "disk"] as const;
export type JournalState = (typeof STATES)[number];
export type Level = (typeof LEVELS)[number];

export interface DurabilityRule {
  topics: string[];
  level: Level;
}

export interface Durability {
  /** The level of what no rule matches. */
  default: Level;
  /** Filters of what is journaled; the rest is in memory only. */
  journaled: string[];
  /** The first match wins. */
  rules: DurabilityRule[];
}

export interface Retention {
  age_s: number | null;
  bytes: number | null;
  keep_unread: boolean;
}

export interface Consumer {
  name: string;
  offset: number | null;
  behind: number | null;
  updated_ms: number | null;
  /** Why nothing is known of it. */
  flaw: string | null;
}

export interface Damage {
  first_offset: number;
  end_offset: number;
  text: string;
}

/** What the start found. */
export interface Receipt {
  text: string;
  cut_bytes: number;
  cut_why: string | null;
  damage: Damage[];
  damage_total: number;
  /** What of the sessions is lost, and why. */
  flaws: string[];
}

export interface Journal {
  state: JournalState;
  /** What is wrong, and what to do about it. */
  reason: string | null;
  advice: string | null;
  first_offset: number | null;
  next_offset: number | null;
  synced_offset: number | null;
  bytes: number | null;
  /** Null leaves it to the disk. */
  bytes_max: number | null;
  segments: number | null;
  not_journaled: number | null;
  /** Who keeps old messages from being removed. */
  held_by: string | null;
  durability: Durability;
  acknowledged: Record<Level, number>;
  retention: Retention;
  consumers: Consumer[];
  consumers_total: number;
  receipt: Receipt | null;
}
