import type { Host } from "../wire/generated/models";
import { formatDuration } from "./format";

/** Smallest difference of two clocks that is mentioned; a hello may be under way for seconds. */
const NOTABLE_S = 5;

/** Return how a host's clock differs from the backend's ("5 min 00 s ahead of"), or null. */
export function clockSkew(host: Pick<Host, "clock_ahead_us"> | undefined): string | null {
  const ahead_s = (host?.clock_ahead_us ?? 0) / 1e6;
  if (Math.abs(ahead_s) < NOTABLE_S) return null;
  return `${formatDuration(Math.abs(ahead_s))} ${ahead_s > 0 ? "ahead of" : "behind"}`;
}
