/** Clock times for people. */

/** Local time of day, such as 14:03:09. */
export function localTime(unixMs: number): string {
  return new Date(unixMs).toLocaleTimeString("en-GB");
}

/** The same instant in UTC, for those who compare logs: 2026-01-31 13:03:09.250 UTC. */
export function utcTime(unixMs: number): string {
  return `${new Date(unixMs).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}
