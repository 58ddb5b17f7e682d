/** Which threads a person wants to see. */

/** Just what a filter looks at. */
export interface Named {
  readonly tid: number | null;
  readonly name: string;
  readonly role: string;
  /** In a group: the process that it is of. */
  readonly process?: NamedProcess | null;
}

/** Just what a filter looks at. */
export interface NamedProcess {
  readonly pid: number;
  readonly name: string;
  readonly row: { readonly title: string } | null;
}

export interface Filter {
  readonly fits: (thread: Named) => boolean;
  /** What is wrong with the expression; "" if nothing. One that is wrong lets everything through. */
  readonly problem: string;
}

/**
 * A filter from a regular expression on name, role or tid, or on name, title or pid of the process;
 * upper and lower case are the same.
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
