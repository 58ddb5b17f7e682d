import { requestsHref } from "../../base/moment";
import type { Span } from "../../stream/window";
import { PageLink } from "../../ui/PageLink";
import type { Target } from "../../wire/generated/models";

interface WindowRequestsProps {
  readonly target: Pick<Target, "process" | "group" | "attached_unix_us">;
  readonly window: Span;
}

/** From a peak to the requests that then waited for the process; of a group, to all requests. */
export function WindowRequests({ target, window }: WindowRequestsProps) {
  const at = (t_s: number) => target.attached_unix_us / 1000 + 1000 * t_s;
  const pid = target.group ? null : target.process.pid;
  const moment = { tid: null, from_ms: at(window.t0_s), to_ms: at(window.t1_s) };
  return <PageLink href={requestsHref(pid, moment)}>Requests in this window</PageLink>;
}
