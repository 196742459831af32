// The alarms of one side of a parameter as an item of a list: made once, so that a person's focus and words stay while they
// change.
import { type AlarmGroup, commentsOf, waiting } from "../model/alarm-groups.ts";
import type { ShownAlarm } from "../model/contract.ts";
import { handled, lasting, levelMark, parameterAddress, reason, SHELVES } from "../model/alarm-wording.ts";
import { legible, moment, timeOfDay } from "../model/wording.ts";
import type { AlarmActs } from "./alarm-acts.ts";
import { element, setData, setText, setTitle } from "./page.ts";

const COMMENT_CHARACTERS_MAX = 500;

export class AlarmCard {
  readonly item = element("li", "alarm-card");
  readonly #mark = element("span", "alarm-mark");
  readonly #level = element("span", "alarm-level");
  readonly #name = element("a", "alarm-name");
  readonly #reason = element("p", "alarm-reason");
  readonly #lasting = element("span", "alarm-lasting");
  readonly #handled = element("span", "alarm-handled");
  readonly #comments = element("ul", "alarm-comments");
  readonly #acknowledge = button("Acknowledge");
  readonly #unshelve = button("Take back");
  readonly #shelves = shelfForm();
  readonly #more = element("details", "alarm-more");
  readonly #deeds = element("div", "alarm-deeds");
  readonly #acts: AlarmActs;
  #group: AlarmGroup;

  constructor(group: AlarmGroup, acts: AlarmActs) {
    this.#group = group;
    this.#acts = acts;
    this.#mark.ariaHidden = "true";
    const forms = element("div", "alarm-forms");
    forms.append(this.#shelves, this.#commentForm());
    this.#more.append(element("summary", "", "Shelve or comment"), forms);
    this.#deeds.append(this.#acknowledge, this.#unshelve, this.#more);
    const head = element("p", "alarm-head");
    head.append(this.#mark, this.#level, this.#name);
    const note = element("p", "note alarm-note");
    note.append(this.#lasting, this.#handled);
    this.item.append(head, this.#reason, note, this.#deeds, this.#comments);
    this.#acknowledge.addEventListener("click", () => void acts.act("acknowledge", waiting(this.#group)));
    this.#unshelve.addEventListener("click", () => void acts.act("unshelve", this.#group.alarms));
    this.#shelves.addEventListener("submit", (event) => void this.#shelve(event));
  }

  render(group: AlarmGroup, now_ms: number): void {
    this.#group = group;
    const { worst, alarms } = group;
    const name = legible(worst.parameter);
    this.item.dataset["alarm"] = worst.id;
    setData(this.item, "level", worst.level);
    setData(this.item, "state", worst.state);
    setData(this.item, "waits", waiting(group).length > 0 ? "yes" : "no");
    setText(this.#mark, levelMark(worst));
    setText(this.#level, worst.level);
    setText(this.#name, name);
    if (!this.#name.hasAttribute("href")) this.#name.href = parameterAddress(worst.parameter);
    setText(this.#reason, reason(worst));
    setTitle(this.#reason, alarms.map((one) => `${one.level}: ${reason(one)}, ${lasting(one, now_ms)}`).join("\n"));
    setText(this.#lasting, lasting(worst, now_ms));
    setTitle(this.#lasting, `began ${moment(worst.began_ms)}`);
    setText(this.#handled, handled(waiting(group)[0] ?? worst));
    this.#renderComments();
    this.#renderDeeds(worst, name);
  }

  #renderComments(): void {
    const comments = commentsOf(this.#group);
    this.#comments.hidden = comments.length === 0;
    if (this.#comments.childElementCount === comments.length) return;
    this.#comments.replaceChildren(
      ...comments.map(({ at_ms, by, text }) => {
        const item = element("li");
        item.append(element("span", "note", `${timeOfDay(at_ms)} ${legible(by)}: `), legible(text));
        return item;
      }),
    );
  }

  #renderDeeds(worst: ShownAlarm, name: string): void {
    this.#deeds.hidden = !this.#acts.mayAct();
    this.#acknowledge.hidden = waiting(this.#group).length === 0;
    this.#unshelve.hidden = worst.shelved_until_ms === null;
    this.#shelves.hidden = worst.shelved_until_ms !== null;
    this.#acknowledge.ariaLabel = `Acknowledge ${name} ${worst.limit}`;
  }

  #commentForm(): HTMLFormElement {
    const form = element("form", "alarm-form");
    const words = element("input");
    words.name = "comment";
    words.required = true;
    words.maxLength = COMMENT_CHARACTERS_MAX;
    words.autocomplete = "off";
    words.placeholder = "What you know about it";
    words.ariaLabel = "Comment";
    const send = element("button", "deed", "Comment");
    form.append(words, send);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const comment = words.value.trim();
      if (comment === "") return;
      void this.#acts.act("comment", this.#group.alarms, { comment }).then((is_done) => {
        if (is_done) words.value = "";
      });
    });
    return form;
  }

  async #shelve(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const seconds = Number(new FormData(this.#shelves).get("seconds"));
    if (await this.#acts.act("shelve", this.#group.alarms, { seconds })) this.#more.open = false;
  }
}

export function button(name: string): HTMLButtonElement {
  const made = element("button", "deed", name);
  made.type = "button";
  return made;
}

function shelfForm(): HTMLFormElement {
  const form = element("form", "alarm-form");
  const choice = element("select");
  choice.name = "seconds";
  choice.ariaLabel = "For how long";
  for (const [words, seconds] of SHELVES) {
    const option = element("option", "", words);
    option.value = String(seconds);
    choice.append(option);
  }
  form.append(choice, element("button", "deed", "Shelve"));
  return form;
}
