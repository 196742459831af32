// What a person can do with alarms, asked of the broker. Returns its answer in words.
import { postJson } from "../console-request.ts";
import type { AlarmStore } from "../model/alarm-store.ts";
import type { ShownAlarm } from "../model/contract.ts";
import { counted, legible } from "../model/wording.ts";

type Verb = "acknowledge" | "shelve" | "unshelve" | "comment";

const DONE: Record<Verb, string> = {
  acknowledge: "acknowledged",
  shelve: "shelved",
  unshelve: "no longer shelved",
  comment: "commented",
};

export class AlarmActs {
  readonly #store: AlarmStore;
  readonly #said: (words: string) => void;
  /** Whether the visitor may do anything with alarms. */
  readonly mayAct: () => boolean;

  constructor(store: AlarmStore, mayAct: () => boolean, said: (words: string) => void) {
    this.#store = store;
    this.mayAct = mayAct;
    this.#said = said;
  }

  async act(verb: Verb, alarms: readonly ShownAlarm[], more: { seconds?: number; comment?: string } = {}): Promise<boolean> {
    const answer = await asked(verb, alarms, more);
    this.#said(answer.words);
    await this.#store.load();
    return answer.is_done;
  }
}

async function asked(verb: Verb, alarms: readonly ShownAlarm[], more: object): Promise<{ is_done: boolean; words: string }> {
  try {
    const answer = await postJson(`api/alarms/${verb}`, { ids: alarms.map(({ id }) => id), ...more });
    if (!answer.ok) return { is_done: false, words: legible((await answer.text()).trim()) };
    const { done, unknown } = (await answer.json()) as { done: string[]; unknown: string[] };
    const gone = unknown.length > 0 ? `; ${counted(unknown.length, "alarm")} not in the list any more` : "";
    return { is_done: true, words: `${counted(done.length, "alarm")} ${DONE[verb]}${gone}` };
  } catch {
    return { is_done: false, words: "the broker did not answer; try again" };
  }
}
