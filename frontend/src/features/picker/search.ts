import type { Process } from "../../wire/generated/models";
import { termHolds } from "./match";

/**
 * Whether a process matches what was typed: each word must be in its name, command line, user, pid,
 * container, pod, unit or a port it listens on (":80" means a port only, and wholly), or be a term of a
 * match expression (match.ts).
 */
export function matchesSearch(process: Process, typed: string): boolean {
  const words = typed.split(/\s+/).filter(Boolean);
  return words.every((word) => termHolds(process, word) ?? matchesWord(process, word));
}

function matchesWord(process: Process, typed: string): boolean {
  const word = typed.toLowerCase();
  if (/^:[0-9]+$/.test(word)) {
    return process.ports.includes(Number(word.slice(1)));
  }
  return (
    process.name.toLowerCase().includes(word) ||
    (process.command ?? process.executable ?? "").toLowerCase().includes(word) ||
    process.user.toLowerCase() === word ||
    (process.unit ?? "").toLowerCase().includes(word) ||
    (process.container?.name ?? "").toLowerCase().includes(word) ||
    (process.container?.id ?? "").startsWith(word) ||
    (process.container?.pod_name ?? "").toLowerCase().includes(word) ||
    (process.container?.pod ?? "").startsWith(word) ||
    String(process.pid).startsWith(word) ||
    process.ports.some((port) => String(port).startsWith(word))
  );
}
