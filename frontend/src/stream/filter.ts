/** The user's thread filter. */

/** Thread properties used by a filter. */
export interface Named {
  readonly tid: number | null;
  readonly name: string;
  readonly role: string;
  /** The thread's process, in a group. */
  readonly process?: NamedProcess | null;
}

/** Process properties used by a filter. */
export interface NamedProcess {
  readonly pid: number;
  readonly name: string;
  readonly row: { readonly title: string } | null;
}

export interface Filter {
  readonly fits: (thread: Named) => boolean;
  /** Error in the expression; "" if none. An invalid expression matches everything. */
  readonly problem: string;
}

/**
 * Filter by a case-insensitive regular expression on a thread's name, role or tid, or on its
 * process' name, title or pid.
 */
export function filterFrom(source: string): Filter {
  if (source.trim() === "") return { fits: () => true, problem: "" };
  let pattern: RegExp;
  try {
    pattern = new RegExp(source.trim(), "i");
  } catch (error) {
    return { fits: () => true, problem: error instanceof Error ? error.message : String(error) };
  }
  const fits = ({ tid, name, role, process }: Named): boolean =>
    pattern.test(name) ||
    pattern.test(role) ||
    (tid !== null && pattern.test(String(tid))) ||
    (process != null && fitsProcess(pattern, process));
  return { fits, problem: "" };
}

function fitsProcess(pattern: RegExp, { pid, name, row }: NamedProcess): boolean {
  return pattern.test(name) || pattern.test(String(pid)) || pattern.test(row?.title ?? "");
}
