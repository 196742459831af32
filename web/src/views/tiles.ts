// The figures at a glance. A tile turns to a warning by its own rule and says in words what is wrong.
import type { JournalSummary, LiveMessage, TableFigures, Totals, TrafficCounts } from "../model/contract.ts";
import { bytes, count, counted, rate } from "../model/wording.ts";
import { setData, setText } from "./page.ts";

type Severity = "calm" | "good" | "warning" | "fault";

interface Figure {
  value: string;
  note: string;
  severity?: Severity;
  unit?: string;
  state?: string;
}

export function renderTiles(message: LiveMessage): void {
  for (const [name, figure] of figures(message)) renderTile(name, figure);
}

function figures(message: LiveMessage): [string, Figure][] {
  const { rates, totals, broker } = message;
  return [
    ["messages_in", { value: rate(rates.messages_in), note: `${count(totals.messages_in)} in all` }],
    ["messages_out", { value: rate(rates.messages_out), note: `${count(totals.messages_out)} in all` }],
    ["bytes_in", { value: bytes(rates.bytes_in), note: `${bytes(rates.bytes_out)}/s out` }],
    ["dropped", droppedFigure(totals, rates)],
    ["clients", { value: count(message.clients_total), note: clientsNote(message) }],
    ["samples_in", samplesFigure(message.table)],
    ["topics", { value: count(message.topics_total), note: keptNote(message) }],
    ["journal", journalFigure(broker.journal)],
  ];
}

function droppedFigure(totals: Totals, rates: TrafficCounts): Figure {
  const expired = totals.expired > 0 ? `, ${count(totals.expired)} expired` : "";
  const value = count(totals.dropped);
  if (rates.dropped > 0) return { value, note: `now ${rate(rates.dropped)} /s${expired}`, severity: "warning" };
  return { value, note: `${totals.dropped > 0 ? "none right now" : "nothing lost"}${expired}` };
}

function samplesFigure(table: TableFigures): Figure {
  const value = rate(table.samples_s);
  if (table.refused_s > 0) return { value, note: `refusing ${rate(table.refused_s)} /s`, severity: "warning" };
  if (table.parameters === 0) return { value, note: "no parameters" };
  const stale = table.stale > 0 ? `, ${count(table.stale)} stale` : "";
  return { value, note: `${count(table.parameters)} parameters${stale}` };
}

function clientsNote(message: LiveMessage): string {
  const away = message.sessions_away;
  const waiting = away > 0 ? `${count(away)} away, ` : "";
  return `${waiting}${count(message.totals.connections)} since the start`;
}

function keptNote(message: LiveMessage): string {
  const { messages, bytes: size } = message.retained;
  const waiting = message.waiting.messages > 0 ? `${count(message.waiting.messages)} waiting, ` : "";
  return waiting + (messages > 0 ? `${count(messages)} retained, ${bytes(size)}` : "none retained");
}

function journalFigure(journal: JournalSummary): Figure {
  if (journal.state === "off") return { value: "off", note: "messages are not kept", state: "not recording" };
  const figure = { value: count(journal.next_offset), unit: "next offset" };
  if (journal.state === "failed") {
    return { ...figure, state: "failed", severity: "fault", note: journal.reason ?? "the broker gave no reason" };
  }
  if (journal.state === "full") {
    return { ...figure, state: "full", severity: "fault", note: journal.reason ?? "there is no room" };
  }
  if (journal.not_journaled) {
    return { ...figure, state: "losing", severity: "fault", note: `${count(journal.not_journaled)} messages not kept` };
  }
  const size = `${bytes(journal.bytes)} in ${counted(journal.segments, "segment")}`;
  return { ...figure, state: "recording", severity: "good", note: `${size}, ${unsynced(journal)}` };
}

function unsynced(journal: JournalSummary): string {
  if (journal.next_offset === null || journal.synced_offset === null) return "disk state unknown";
  const waiting = journal.next_offset - journal.synced_offset;
  return waiting > 0 ? `${count(waiting)} not yet on disk` : "all on disk";
}

function renderTile(name: string, figure: Figure): void {
  const tile = document.querySelector<HTMLElement>(`[data-tile="${name}"]`);
  if (!tile) return;
  setData(tile, "severity", figure.severity ?? "calm");
  renderField(tile, "value", figure.value);
  renderField(tile, "note", figure.note);
  renderField(tile, "unit", figure.unit ?? "");
  renderField(tile, "state", figure.state ?? "");
}

function renderField(tile: HTMLElement, field: string, text: string): void {
  const node = tile.querySelector<HTMLElement>(`[data-field="${field}"]`);
  if (!node) return;
  setText(node, text);
  if (field === "note") node.title = text;
}
