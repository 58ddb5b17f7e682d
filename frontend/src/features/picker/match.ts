/** Match expressions of groups, with the collector's semantics: docs/protocol.md. */

import type { Process } from "../../wire/generated/models";

/** Maximum number of terms; expressions with more are refused. */
const MAX_TERMS = 16;

/** Whether a term with a key holds; null if the word is no such term. */
export function termHolds(process: Process, word: string): boolean | null {
  const colon = word.indexOf(":");
  const value = word.slice(colon + 1);
  switch (colon < 0 || value === "" ? "" : word.slice(0, colon)) {
    case "name":
      return globFits(process.name, value);
    case "user":
      return value === process.user || value === String(process.uid);
    case "port":
      return process.ports.includes(Number(value));
    case "command":
      return commandHas(process, value);
    default:
      return null;
  }
}

/** Whether all terms of an expression hold. */
export function expressionHolds(process: Process, expression: string): boolean {
  return wordsOf(expression).every((word) => termHolds(process, word) ?? commandHas(process, word));
}

/**
 * Convert typed text into a match expression.
 * @param found Processes found by the text: a word becomes a term that holds for all of them.
 * @returns Null if no equivalent expression exists.
 */
export function expressionOf(typed: string, found: readonly Process[]): string | null {
  const words = wordsOf(typed);
  if (words.length === 0 || words.length > MAX_TERMS || found.length === 0) return null;
  const terms = words.map((word) => termOf(word, found));
  return terms.includes(null) ? null : terms.join(" ");
}

function termOf(word: string, found: readonly Process[]): string | null {
  if (found.every((each) => termHolds(each, word) !== null)) return word;
  if (/^:[0-9]+$/.test(word)) return `port${word}`;
  const candidates = [
    word.includes(":") ? `command:${word}` : word,
    `user:${word}`,
    `name:*${word}*`,
    `port:${word}`,
  ];
  return candidates.find((term) => found.every((each) => expressionHolds(each, term))) ?? null;
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}

function commandHas({ command }: Process, text: string): boolean {
  return (command ?? "").toLowerCase().includes(text.toLowerCase());
}

/** Shell glob matching: * and ? and ranges in brackets. */
function globFits(name: string, glob: string): boolean {
  const source = glob.replace(/\[!?[^\]]+\]|[*?]|[.*+?^${}()|[\]\\]/g, (part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    if (part.length > 1) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\${part}`;
  });
  try {
    return new RegExp(`^${source}$`, "s").test(name);
  } catch {
    return false;
  }
}
