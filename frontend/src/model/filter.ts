/** Which threads a person wants to see. */

/** Just what a filter looks at. */
export interface Named {
  readonly tid: number;
  readonly name: string;
  readonly role: string;
}

export interface Filter {
  readonly fits: (thread: Named) => boolean;
  /** What is wrong with the expression; "" if nothing. One that is wrong lets everything through. */
  readonly problem: string;
}

/** A filter from a regular expression on name, role or tid; upper and lower case are the same. */
export function filterFrom(source: string): Filter {
  if (source.trim() === "") return { fits: () => true, problem: "" };
  let pattern: RegExp;
  try {
    pattern = new RegExp(source.trim(), "i");
  } catch (error) {
    return { fits: () => true, problem: error instanceof Error ? error.message : String(error) };
  }
  const fits = ({ tid, name, role }: Named): boolean =>
    pattern.test(name) || pattern.test(role) || pattern.test(String(tid));
  return { fits, problem: "" };
}
