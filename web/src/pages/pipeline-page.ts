// The pipeline: who reads the journal, how far behind each is, and what jobs write; how to start one if there is none.
import type { JournalSummary, LiveMessage } from "../model/contract.ts";
import { consumerCells, hasSetAside, tableCells } from "../model/pipeline-wording.ts";
import { count } from "../model/wording.ts";
import { KeyedRows } from "../views/keyed-rows.ts";
import { madeTable } from "../views/made-table.ts";
import { element, explain, setData, setText } from "../views/page.ts";
import type { Page, PageContext } from "./page.ts";

const START = "slipring pipeline run";
const NONE = "No job reads the journal. A job carries it into tables of a lake, and computes more from them. Start one on this machine, and it appears here:";
const OFF = "Nothing is journaled, so there is nothing that a job could read. Give the broker a data folder and topics to journal:";
const SERVE = "slipring serve --data slipring-data";

export class PipelinePage implements Page {
  readonly path = "pipeline";
  readonly title = "Pipeline";
  readonly #root = element("section", "panel pipeline");
  readonly #count = element("p", "note");
  readonly #empty = element("div", "empty");
  readonly #tablesHead = element("div", "panel-head");
  readonly #consumers: KeyedRows;
  readonly #tables: KeyedRows;
  #context: PageContext | null = null;

  constructor() {
    const title = element("h2", "", "Consumers and jobs");
    title.id = "consumers-title";
    this.#count.id = "consumers-count";
    this.#root.setAttribute("aria-labelledby", title.id);
    const consumers = madeTable("consumers-table", "Consumers and jobs", [
      "Consumer", "+Read to", "+Behind", "+Lag", "+Messages/s", "+Rows/s", "+Set aside", "+Moved",
    ]);
    const tables = madeTable("job-tables", "Tables that jobs write", ["Table", "Job", "+Rows", "+Rows/s", "+Last commit"]);
    this.#consumers = new KeyedRows(consumers.table, "consumer", [0]);
    this.#tables = new KeyedRows(tables.table, "jobTable", [0, 1]);
    this.#empty.id = "pipeline-empty";
    const head = element("div", "panel-head");
    head.append(title, this.#count);
    this.#tablesHead.append(element("h2", "", "Tables"), element("p", "note", "rows since each job's run began; a corrected row counts again"));
    this.#root.append(head, consumers.scroll, this.#empty, this.#tablesHead, tables.scroll);
  }

  show(root: HTMLElement, context: PageContext): void {
    this.#context = context;
    if (!this.#root.isConnected) root.append(this.#root);
  }

  render(now_ms: number): void {
    const latest = this.#context?.state.latest;
    if (latest) this.#draw(latest, now_ms);
  }

  hide(): void {
    this.#context = null;
  }

  #draw({ broker: { journal } }: LiveMessage, now_ms: number): void {
    const { consumers, consumers_total: total } = journal;
    const all = total === 0 ? "nobody has left a position" : "furthest behind first";
    setText(this.#count, consumers.length === total ? all : `showing ${count(consumers.length)} of ${count(total)}`);
    const rows = this.#consumers.render(consumers.map((one) => ({ key: one.name, cells: consumerCells(one, now_ms) })));
    consumers.forEach((one, index) => {
      const row = rows[index];
      if (!row) return;
      setData(row, "aside", hasSetAside(one) ? "yes" : "no");
      setData(row, "flaw", one.flaw === null ? "no" : "yes");
    });
    const tables = consumers.flatMap(tableCells);
    this.#tables.render(tables);
    this.#tablesHead.hidden = tables.length === 0;
    this.#explainNone(journal);
  }

  #explainNone(journal: JournalSummary): void {
    this.#empty.hidden = journal.consumers_total > 0;
    if (journal.consumers_total > 0) return;
    if (journal.state === "off") explain(this.#empty, OFF, [SERVE]);
    else explain(this.#empty, NONE, [START]);
  }
}
