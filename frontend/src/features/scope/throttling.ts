import type { DataHealth } from "../../stream/views";

/** The collector lowers no rate below this. */
const LOWEST_HZ = 1;
/** Some room, since what sampling takes moves by itself. */
const ROOM = 1.3;

type Rates = Pick<
  DataHealth,
  "rate_hz" | "in_force_hz" | "overhead_percent" | "budget_percent" | "slowed_by_backlog"
>;

/** Whether the collector samples less often than it was asked to. */
export function isThrottled({
  rate_hz,
  in_force_hz,
}: Pick<Rates, "rate_hz" | "in_force_hz">): boolean {
  return in_force_hz < rate_hz;
}

/** Why the rate is lowered and what to do about it; null if it is not. */
export function throttlingText(health: Rates): string | null {
  if (!isThrottled(health)) {
    return null;
  }
  const { rate_hz, in_force_hz, overhead_percent, budget_percent } = health;
  if (health.slowed_by_backlog) {
    return `The collector samples at ${in_force_hz} Hz instead of the requested ${rate_hz} Hz because frames wait to be delivered: the backend takes fewer than there are. The rate rises again when they have arrived.`;
  }
  const parts = [
    `The collector samples at ${in_force_hz} Hz instead of the requested ${rate_hz} Hz to stay within its CPU budget of ${budget_percent} % of a core.`,
  ];
  if (in_force_hz <= LOWEST_HZ && (overhead_percent ?? 0) > budget_percent) {
    parts.push("It is above the budget even at this rate, the lowest.");
  }
  parts.push(
    `The rate rises again when there is room. For the full rate, start tidscope with --budget-percent ${enough(health)} (0: no limit).`,
  );
  return parts.join(" ");
}

/** A budget that allows the requested rate: samples at a higher rate cost no more each. */
function enough({ rate_hz, in_force_hz, overhead_percent, budget_percent }: Rates): number {
  const spent = Math.max(overhead_percent ?? budget_percent, budget_percent / 2);
  return Math.max(Math.ceil(budget_percent) + 1, Math.ceil((ROOM * spent * rate_hz) / in_force_hz));
}
