// The audit, newest first, in pages: for who may administer rights. It asks only when a person does, because reading the
// audit is in the audit.
import { AuditPage, type AuditRecord, KINDS, auditCells, auditPath } from "../model/audit-record.ts";
import { NotUnderstood, parse } from "../model/shape.ts";
import { counted, legible } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { element, explain, part, setData, setText } from "./page.ts";

export class AuditPanel {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("audit-table"), "offset");
  readonly #said = part("audit-said");
  readonly #empty = part("audit-empty");
  readonly #kind = part<HTMLSelectElement>("audit-kind");
  readonly #user = part<HTMLInputElement>("audit-user");
  readonly #client = part<HTMLInputElement>("audit-client");
  readonly #older = part<HTMLButtonElement>("audit-older");
  #records: AuditRecord[] = [];
  #before: number | null = null;
  /** The number of the newest question: the answer to an older one comes too late. */
  #asked = 0;

  constructor() {
    this.#kind.append(...["", ...KINDS].map(choice));
    part<HTMLFormElement>("audit-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#show(null);
    });
    this.#older.addEventListener("click", () => void this.#show(this.#before));
  }

  /** Shows the panel to who may read the audit. */
  offer(isAllowed: boolean): void {
    part("audit").hidden = !isAllowed;
  }

  async #show(before: number | null): Promise<void> {
    const asked = ++this.#asked;
    const answer = await ask(auditPath({ kind: this.#kind.value, user: this.#user.value, client: this.#client.value }, before));
    if (asked !== this.#asked) return;
    if (typeof answer === "string") {
      this.#empty.hidden = false;
      explain(this.#empty, answer);
      return;
    }
    this.#records = before === null ? answer.records : [...this.#records, ...answer.records];
    this.#before = answer.before;
    this.#render();
  }

  #render(): void {
    const records = this.#records;
    const rows = this.#rows.render(records.map((record) => ({ key: String(record.offset), cells: auditCells(record) })));
    records.forEach((record, index) => {
      const row = rows[index];
      if (!row) return;
      setData(row, "outcome", record.outcome);
      for (const cell of row.cells) cell.title = cell.textContent;
    });
    this.#older.hidden = this.#before === null;
    this.#empty.hidden = records.length > 0;
    const more = this.#before === null ? "" : ", and older ones";
    setText(this.#said, `${counted(records.length, "record")}${more}`);
    explain(this.#empty, this.#before === null ? "No record is like this." : "None of the newest records is like this. Look at older ones.");
  }
}

function choice(kind: string): HTMLOptionElement {
  const made = element("option", "", kind === "" ? "every kind" : kind);
  made.value = kind;
  return made;
}

/** A page, or why there is none. */
async function ask(path: string): Promise<AuditPage | string> {
  try {
    const answer = await fetch(path);
    const text = await answer.text();
    return answer.ok ? parse(AuditPage, text) : legible(text.trim());
  } catch (error) {
    return error instanceof NotUnderstood ? "this page is older than the broker; load it again" : "the broker did not answer; try again";
  }
}
