// The journal as a person reads it. Pure: the same journal always gives the same words.
import type { ArchiveStatus, DurabilityRule, JournalSummary, ReceiptSummary } from "./contract.ts";
import { bytes, count, counted, duration, legible } from "./wording.ts";

type Level = DurabilityRule["level"];

/** What is wrong and what to do, in one line; null while all is well. */
export function alarm(journal: JournalSummary): string | null {
  if (journal.reason === null) return null;
  const advice = journal.advice === null ? "" : ` ${sentence(journal.advice)}`;
  return sentence(legible(journal.reason)) + advice;
}

export function stored(journal: JournalSummary): string {
  if (journal.bytes === null) return "nothing";
  const held = `${bytes(journal.bytes)} in ${counted(journal.segments, "segment")}`;
  return journal.bytes_max === null ? `${held}, the disk is the bound` : `${held}, full at ${bytes(journal.bytes_max)}`;
}

/** How full it is, from 0 to 1; null where the disk is the bound. */
export function fullness(journal: JournalSummary): number | null {
  if (!journal.bytes_max || journal.bytes === null) return null;
  return Math.min(1, journal.bytes / journal.bytes_max);
}

/** Of the disk of the data folder. */
export function disk({ disk_free_bytes: free, disk_bytes: all }: JournalSummary): string {
  if (free === null || all === null) return "the disk does not say";
  return `${bytes(free)} free of ${bytes(all)}`;
}

export function offsets(journal: JournalSummary): string {
  if (journal.next_offset === null) return "none";
  const { first_offset, next_offset, synced_offset } = journal;
  return `first ${count(first_offset)}, next ${count(next_offset)}, on disk before ${count(synced_offset)}`;
}

export function retention(journal: JournalSummary): string {
  const { age_s, bytes: size, keep_unread } = journal.retention;
  if (age_s === null && size === null) return "everything is kept for ever";
  const unread = keep_unread ? "except what a consumer has not read" : "read or not";
  const held = journal.held_by === null ? "" : `; held back by ${legible(journal.held_by)}`;
  return `${removal(age_s, size)}, ${unread}${held}`;
}

function removal(age_s: number | null, size: number | null): string {
  const beyond = size === null ? "" : `beyond ${bytes(size)}`;
  if (age_s === null) return `${beyond} the oldest is removed`;
  return `older than ${duration(age_s)}${beyond && ` or ${beyond}`} is removed`;
}

export function archive(found: ArchiveStatus | null): string {
  if (found === null) return "there is none";
  const { first_offset, end_offset, behind, waiting, failure } = found;
  const held = end_offset === 0 ? "nothing yet" : `offsets ${count(first_offset)} to ${count(end_offset)}`;
  const told = `${held}; ${count(behind)} behind, ${counted(waiting, "complete segment")} waiting`;
  return failure === null ? told : `${told}; failing: ${legible(failure)}`;
}

export function acknowledged(journal: JournalSummary): string {
  const { memory, process, disk } = journal.acknowledged;
  return `${count(disk)} on disk, ${count(process)} written, ${count(memory)} in memory`;
}

export function receipt(found: ReceiptSummary | null): string {
  if (found === null) return "there is no journal";
  return found.cut_why === null ? found.text : `${found.text}; ${legible(found.cut_why)}`;
}

/** Each damaged range, how many more there are, and what else is lost. */
export function damage(found: ReceiptSummary | null): string[] {
  if (found === null) return [];
  const more = found.damage_total - found.damage.length;
  const lines = found.damage.map(({ text }) => legible(text));
  const rest = more > 0 ? [`and ${count(more)} more ranges`] : [];
  return [...lines, ...rest, ...found.flaws.map((flaw) => `lost of the sessions: ${legible(flaw)}`)];
}

/** Topics and their levels, in the order in which they are tried. */
export function levels(journal: JournalSummary): [string, Level][] {
  const { rules, journaled, default: otherwise } = journal.durability;
  if (journaled.length === 0) return [["everything", "memory"]];
  const listed = rules.map(({ topics, level }): [string, Level] => [topics.map(legible).join(", "), level]);
  if (journaled.includes("#")) return [...listed, [listed.length > 0 ? "everything else" : "everything", otherwise]];
  return [...listed, [journaled.map(legible).join(", "), otherwise], ["what is not journaled", "memory"]];
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
