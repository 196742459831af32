// The stretches of time in which something was in one state, made from samples; those too short to see are joined. Pure.

export interface StateRun {
  readonly from_ms: number;
  readonly to_ms: number;
  /** What is written there; null where several short states are too close to tell apart. */
  readonly state: string | null;
}

export interface StateSamples {
  readonly times: ArrayLike<number>;
  readonly length: number;
  /** The state of the sample at this place; null where it is not known. */
  readonly stateAt: (at: number) => string | null;
  /** Whether a bucket has more than its last state in it. */
  readonly isMixed: (at: number) => boolean;
  /** How long a state is known after its sample; infinite for what is sent only when it changes. */
  readonly gap_ms: number;
}

/**
 * The runs from `from_ms` to `to_ms`: each state lasts until the next sample, or as long as it is known. Runs shorter than
 * `least_ms` become one run without a state, together with short neighbours.
 */
export function stateRuns(samples: StateSamples, from_ms: number, to_ms: number, least_ms: number): StateRun[] {
  return joinedShort(everyRun(samples, from_ms, to_ms), least_ms);
}

function everyRun(samples: StateSamples, from_ms: number, to_ms: number): StateRun[] {
  const runs: StateRun[] = [];
  for (let at = 0; at < samples.length; at += 1) {
    const begin_ms = Math.max(from_ms, samples.times[at]!);
    const end_ms = Math.min(to_ms, samples.times[at]! + samples.gap_ms, at + 1 < samples.length ? samples.times[at + 1]! : to_ms);
    if (end_ms <= begin_ms) continue;
    const own = samples.stateAt(at);
    if (own === null && !samples.isMixed(at)) continue;
    const state = samples.isMixed(at) ? null : own;
    const before = runs.at(-1);
    const continues = before !== undefined && before.to_ms >= begin_ms && before.state === state;
    if (continues) runs[runs.length - 1] = { ...before, to_ms: end_ms };
    else runs.push({ from_ms: begin_ms, to_ms: end_ms, state });
  }
  return runs;
}

function joinedShort(runs: readonly StateRun[], least_ms: number): StateRun[] {
  const joined: StateRun[] = [];
  for (const run of runs) {
    const before = joined.at(-1);
    const isShort = run.to_ms - run.from_ms < least_ms;
    const next = isShort ? { ...run, state: null } : run;
    const touches = before !== undefined && before.to_ms >= run.from_ms;
    if (touches && before.state === null && next.state === null) joined[joined.length - 1] = { ...before, to_ms: run.to_ms };
    else joined.push(next);
  }
  return joined;
}

/** Which of `colours` colours a state has: the same one everywhere, whatever other states there are. */
export function stateColour(state: string, colours: number): number {
  let sum = 2_166_136_261;
  for (let at = 0; at < state.length; at += 1) sum = Math.imul(sum ^ state.charCodeAt(at), 16_777_619) >>> 0;
  return sum % colours;
}
