import type { Process } from "../../../wire/generated/models";

/**
 * Whether a process matches what was typed: each word must be in its name, command line, user, pid or
 * a port it listens on (":80" means a port only, and wholly).
 */
export function matchesSearch(process: Process, typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => matchesWord(process, word));
}

function matchesWord(process: Process, word: string): boolean {
  if (/^:[0-9]+$/.test(word)) {
    return process.ports.includes(Number(word.slice(1)));
  }
  return (
    process.name.toLowerCase().includes(word) ||
    (process.command ?? process.executable ?? "").toLowerCase().includes(word) ||
    process.user.toLowerCase() === word ||
    String(process.pid).startsWith(word) ||
    process.ports.some((port) => String(port).startsWith(word))
  );
}

/** Busiest first; among equals those with more threads, then the older pid. */
export function byCpu(a: Process, b: Process): number {
  return (b.cpu_percent ?? 0) - (a.cpu_percent ?? 0) || b.threads - a.threads || a.pid - b.pid;
}
