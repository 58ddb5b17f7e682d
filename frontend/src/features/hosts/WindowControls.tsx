import { type FormEvent, useState } from "react";
import { Button, Select } from "../../ui/Controls";
import { type HostsLink, isLive } from "./link";
import type { PartProps } from "./props";

const LENGTHS = [
  { value: "10", label: "last 10 minutes" },
  { value: "60", label: "last hour" },
  { value: "360", label: "last 6 hours" },
  { value: "1440", label: "last day" },
  { value: "10080", label: "last week" },
];
const FIXED = "fixed";

/** A time as the value of a field for local dates and times. */
export function localText(unix_ms: number): string {
  const local = new Date(unix_ms - new Date(unix_ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Selection of the window: one that ends now, or one of the past. */
export function WindowControls({ link, onLink }: PartProps) {
  const known = LENGTHS.some(({ value }) => value === String(link.last_min));
  const own = known
    ? []
    : [{ value: String(link.last_min), label: `last ${link.last_min} minutes` }];
  const hold = () => {
    const until = Math.floor(Date.now() / 60_000) * 60_000;
    onLink({ since_ms: until - link.last_min * 60_000, until_ms: until });
  };
  return (
    <>
      <Select
        label="Window"
        value={isLive(link) ? String(link.last_min) : FIXED}
        choices={[...LENGTHS, ...own, { value: FIXED, label: "past window…" }]}
        onChange={(next) => {
          if (next === FIXED) hold();
          else onLink({ last_min: Number(next), since_ms: null, until_ms: null });
        }}
      />
      {isLive(link) ? null : (
        <PastForm key={`${link.since_ms}-${link.until_ms}`} link={link} onLink={onLink} />
      )}
    </>
  );
}

function PastForm({ link, onLink }: PartProps) {
  const [since, setSince] = useState(localText(link.since_ms ?? 0));
  const [until, setUntil] = useState(localText(link.until_ms ?? 0));
  const asked: Partial<HostsLink> = { since_ms: Date.parse(since), until_ms: Date.parse(until) };
  const wrong = !((asked.until_ms ?? 0) > (asked.since_ms ?? 0));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!wrong) onLink(asked);
  };
  return (
    <form onSubmit={submit} style={{ display: "flex", flexWrap: "wrap", gap: "0.5rem" }}>
      <input
        type="datetime-local"
        className="text-field"
        aria-label="From"
        value={since}
        onChange={(event) => setSince(event.target.value)}
      />
      <input
        type="datetime-local"
        className="text-field"
        aria-label="To"
        aria-invalid={wrong}
        value={until}
        onChange={(event) => setUntil(event.target.value)}
      />
      <Button type="submit" disabled={wrong}>
        Show
      </Button>
    </form>
  );
}
