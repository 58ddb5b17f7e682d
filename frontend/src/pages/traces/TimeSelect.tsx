import { localDate, localTime } from "../../base/clock";
import { Select } from "../../ui/Select";
import type { TraceSetLink } from "./link";

type Times = Pick<TraceSetLink, "since_ms" | "until_ms">;

interface TimeSelectProps {
  readonly set: Times;
  readonly onSet: (times: Times) => void;
}

const LAST = { all: null, "15 min": 15, hour: 60, day: 1440 } as const;
type Last = keyof typeof LAST;
const LABELS: Readonly<Record<Last, string>> = {
  all: "All",
  "15 min": "Last 15 min",
  hour: "Last hour",
  day: "Last day",
};

/** When requests began: all times, the last ones, or the window of the address. */
export function TimeSelect({ set, onSet }: TimeSelectProps) {
  const limited = set.since_ms !== null || set.until_ms !== null;
  const names = Object.keys(LAST) as Last[];
  return (
    <Select<Last | "window">
      label="Time"
      value={limited ? "window" : "all"}
      choices={[
        ...names.map((value) => ({ value, label: LABELS[value] })),
        ...(limited ? [{ value: "window" as const, label: timesText(set) }] : []),
      ]}
      onChange={(value) => {
        if (value === "window") return;
        const minutes = LAST[value];
        const since_ms = minutes === null ? null : Date.now() - 60_000 * minutes;
        onSet({ since_ms, until_ms: null });
      }}
    />
  );
}

/** A window of time in words. */
export function timesText({ since_ms, until_ms }: Times): string {
  if (since_ms === null && until_ms === null) return "all times";
  if (until_ms === null) return `since ${localDate(since_ms ?? 0)}`;
  if (since_ms === null) return `before ${localDate(until_ms)}, ${localTime(until_ms)}`;
  return `${localDate(since_ms)}: ${localTime(since_ms)} to ${localTime(until_ms)}`;
}
