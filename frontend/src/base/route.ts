/** The page that an address names. */

export type Route =
  | {
      readonly page: "live";
      readonly pid: number | null;
      readonly target: string | null;
      /** Error in the address; "" if none. */
      readonly mistake: string;
    }
  | { readonly page: "doctor" }
  /** The query holds window, search and view; see features/hosts/link.ts. */
  | { readonly page: "hosts"; readonly query: string }
  | { readonly page: "runs" }
  | { readonly page: "run"; readonly id: string }
  /** The query holds the whole comparison; see features/compare/link.ts. */
  | { readonly page: "compare"; readonly query: string }
  | { readonly page: "experiments" }
  | { readonly page: "experiment"; readonly id: string }
  /** The query holds the endpoint and view settings; see features/traces/link.ts. */
  | { readonly page: "traces"; readonly query: string }
  | { readonly page: "trace"; readonly id: string }
  /** The query holds the selection and its view; see features/stacks/link.ts. */
  | { readonly page: "stacks"; readonly query: string }
  | { readonly page: "unknown"; readonly path: string };

const TARGET_ID = /^t-[0-9]+-[0-9a-f]{8}$/;

const RUN_PATH = /^\/runs\/(r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6})$/;

const EXPERIMENT_PATH = /^\/experiments\/(x-[0-9]{8}-[0-9]{6}-[0-9a-f]{6})$/;

const TRACE_PATH = /^\/traces\/([0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63})$/;

/** Read a path and a query. */
export function parseRoute(path: string, query: string): Route {
  if (path === "/doctor") {
    return { page: "doctor" };
  }
  if (path === "/hosts") {
    return { page: "hosts", query: query.replace(/^\?/, "") };
  }
  if (path === "/runs") {
    return { page: "runs" };
  }
  const run = RUN_PATH.exec(path)?.[1];
  if (run !== undefined) {
    return { page: "run", id: run };
  }
  if (path === "/experiments") {
    return { page: "experiments" };
  }
  const experiment = EXPERIMENT_PATH.exec(path)?.[1];
  if (experiment !== undefined) {
    return { page: "experiment", id: experiment };
  }
  if (path === "/traces") {
    return { page: "traces", query: query.replace(/^\?/, "") };
  }
  const trace = TRACE_PATH.exec(path)?.[1];
  if (trace !== undefined) {
    return { page: "trace", id: trace };
  }
  if (path === "/stacks") {
    return { page: "stacks", query: query.replace(/^\?/, "") };
  }
  if (path === "/compare") {
    return { page: "compare", query: query.replace(/^\?/, "") };
  }
  if (path !== "/") {
    return { page: "unknown", path };
  }
  const parameters = new URLSearchParams(query);
  const pid = parameters.get("pid");
  const target = parameters.get("target");
  const live = { page: "live", pid: null, target: null, mistake: "" } as const;
  if (target !== null) {
    return TARGET_ID.test(target)
      ? { ...live, target }
      : { ...live, mistake: `"${target}" is not a target id (t-PID-, then 8 hex digits).` };
  }
  if (pid !== null) {
    return /^[1-9][0-9]{0,9}$/.test(pid)
      ? { ...live, pid: Number(pid) }
      : { ...live, mistake: `"${pid}" is not a process id.` };
  }
  return live;
}

export function liveHref(target: string): string {
  return `/?target=${target}`;
}

/** Address of an attached process; view settings of the query, such as idle=folded, are kept. */
export function attachedHref(target: string, query: string): string {
  const kept = new URLSearchParams(query);
  kept.delete("pid");
  kept.delete("target");
  const rest = kept.toString();
  return rest === "" ? liveHref(target) : `${liveHref(target)}&${rest}`;
}

export function runHref(run: string): string {
  return `/runs/${run}`;
}

export function experimentHref(experiment: string): string {
  return `/experiments/${experiment}`;
}

export function traceHref(trace: string): string {
  return `/traces/${trace}`;
}
