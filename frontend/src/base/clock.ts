/** Clock times in readable form. */

/** Local time of day, such as 14:03:09. */
export function localTime(unixMs: number): string {
  return new Date(unixMs).toLocaleTimeString("en-GB");
}

/** Local time of day to a tenth of a second: 13:03:09.2. */
export function preciseTime(unixMs: number): string {
  return new Date(unixMs).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 1,
  });
}

/** An instant in UTC, for comparison with logs: 2026-01-31 13:03:09.250 UTC. */
export function utcTime(unixMs: number): string {
  return `${new Date(unixMs).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

/** Seconds in stopwatch format: 0:07, 12:34, 1:02:03. */
export function elapsedText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  const hours = Math.floor(whole / 3600);
  const text = parts.join(":");
  return hours > 0 ? `${hours}:${text}` : text.replace(/^0/, "");
}

/** An instant in the format of a date and time field: 2026-11-21T14:03:09.250. */
export function localField(unixMs: number): string {
  const date = new Date(unixMs);
  const local = new Date(unixMs - 60_000 * date.getTimezoneOffset());
  return local.toISOString().replace("Z", "");
}

/** Unix ms of a date and time field's text, or null if empty. */
export function momentOfField(text: string): number | null {
  const unixMs = new Date(text).getTime();
  return Number.isNaN(unixMs) ? null : unixMs;
}

/** Date and time of day, local: 21 Nov 2026, 14:03. */
export function localDate(unixMs: number): string {
  const date = new Date(unixMs);
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
  return `${day}, ${date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}
