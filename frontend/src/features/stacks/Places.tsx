import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo } from "react";
import { stackPlaces } from "../../api/stacks";
import { usePolled } from "../../api/usePolled";
import { hasBackend } from "../../base/source";
import { createStore } from "../../base/store";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { formatPercent } from "../../stream/format";
import type { TimeWindow } from "../../stream/viewRequest";
import { PageLink } from "../../ui/Controls";
import type {
  LockPlaces,
  Problem,
  StackPlace,
  StackPlaces,
  Target,
  ThreadNow,
} from "../../wire/generated/models";
import { codeText, isOwnCode } from "./frames";
import styles from "./stacks.module.css";
import { type LinkedStacks, useStackLink } from "./useStackLink";
import { useLease, useStill } from "./useStacks";

/** True while the user has stacks of the watched target taken. Ends with the page. */
export const takingStacks = createStore(false);

/** Code of locks and threads in the visible window, by number and thread ID. */
interface Places {
  readonly locks: ReadonlyMap<number, LockPlaces>;
  readonly threads: ReadonlyMap<number, ThreadNow>;
  /** Why no stacks are taken although the user asked for them; null if they are. */
  readonly refusal: Problem | null;
  readonly retry: () => void;
}

const NO_PLACES: Places = {
  locks: new Map(),
  threads: new Map(),
  refusal: null,
  retry: () => undefined,
};

const PlacesContext = createContext<Places>(NO_PLACES);

/** Code of locks and threads in the visible window; empty without stacks. */
export function usePlaces(): Places {
  return useContext(PlacesContext);
}

interface PlacesProviderProps {
  readonly target: Target;
  readonly children: ReactNode;
}

/** Request periods in ms: while stacks are taken, and while older ones may be in the window. */
const TAKING_MS = 2000;
const RESTING_MS = 10_000;

/** Reads code of locks and threads for the panels of a target or run. */
export function PlacesProvider({ target, children }: PlacesProviderProps) {
  const client = useLiveClient();
  const id = useStore(client.followed);
  const taking = useStore(takingStacks);
  const run = client.extent !== null;
  const live = !run && target.state === "attached";
  useEffect(() => () => takingStacks.set(false), []);
  const lease = useLease(taking && live ? target.id : null);
  const window = useStill(useStore(client.view).window);
  const load = useCallback(
    (signal: AbortSignal) =>
      stackPlaces({ kind: run ? "run" : "target", id: id ?? "" }, placesQuery(window), signal),
    [run, id, window],
  );
  const known = target.source.ledger === true && id !== null && hasBackend();
  const active = taking || (target.stacks?.until_unix_us ?? null) !== null;
  const period = run ? null : active ? TAKING_MS : RESTING_MS;
  const { value } = usePolled(known ? load : null, period);
  const { problem: refusal, retry } = lease;
  const places = useMemo(() => placesOf(value, refusal, retry), [value, refusal, retry]);
  return <PlacesContext value={places}>{children}</PlacesContext>;
}

function placesOf(value: StackPlaces | null, refusal: Problem | null, retry: () => void): Places {
  return {
    locks: new Map(value?.locks.map((each) => [each.lock, each])),
    threads: new Map(value?.threads.map((each) => [each.tid, each])),
    refusal,
    retry,
  };
}

/** Query of a window; a live one ends with the newest known stacks. */
function placesQuery(window: TimeWindow): string {
  const ns = (t_s: number) => Math.max(0, Math.round(1e9 * t_s));
  if (window.kind !== "fixed") return `last_ns=${ns(window.seconds)}`;
  const from_ns = ns(window.t0_s);
  // A run with a single frame has a window without length, which the backend refuses.
  const to_ns = Math.max(from_ns + 1, ns(window.t1_s));
  return `from_ns=${from_ns}&to_ns=${to_ns}`;
}

/** A place in words, with how certain it is. */
export function placeTitle(what: string, place: StackPlace): string {
  const { share, low, high, samples } = place;
  return (
    `${what} in ${codeText(place)}: ${formatPercent(share)} of the time with a known stack ` +
    `(95 % interval ${formatPercent(low)} to ${formatPercent(high)}, ${samples} samples).`
  );
}

/** Code that takes, releases and holds a lock, in one sentence; "" if unknown. */
export function lockCode(places: LockPlaces | undefined): string {
  if (places === undefined) return "";
  const { waits, releases, holds } = places;
  const parts = [
    waits === null ? "" : `taken in ${codeText(waits)}`,
    holds === null ? "" : `held longest in ${codeText(holds)}`,
    releases === null || holds !== null ? "" : `released in ${codeText(releases)}`,
  ];
  return parts.filter((text) => text !== "").join(", ");
}

interface StacksLinkProps {
  readonly what: LinkedStacks;
  readonly children: ReactNode;
  readonly title?: string | undefined;
  /** Content without a link, where there are no stacks; the children by default. */
  readonly plain?: ReactNode;
  /** A name that is a link as well: in the colour of the text. */
  readonly quiet?: boolean;
}

/** A link to the flame graph of a part of the stacks. */
export function StacksLink({ what, children, title, plain = children, quiet }: StacksLinkProps) {
  const href = useStackLink()(what);
  return href === null ? (
    plain
  ) : (
    <PageLink href={href} className={styles.link} data-quiet={quiet} title={title}>
      {children}
    </PageLink>
  );
}

interface LockPlaceProps {
  readonly lock: number;
  readonly name: string;
}

/** Code in which threads wait for a lock, as a link to its flame graphs. */
export function LockPlace({ lock, name }: LockPlaceProps) {
  const place = usePlaces().locks.get(lock)?.waits ?? null;
  return (
    <StacksLink
      what={{ lock, name }}
      title={place === null ? "Flame graph of its waits" : placeTitle("Taken", place)}
      plain={null}
    >
      {place === null ? "Stacks" : codeText(place)}
    </StacksLink>
  );
}

/**
 * Activity of a thread by its last stack: the program's innermost function and its callee, such as
 * "work (work.c:35) › nanosleep"; "" if unknown.
 */
export function nowText(now: ThreadNow | undefined): string {
  const [top] = now?.frames ?? [];
  if (top === undefined) return "";
  const own = now?.frames.find((frame) => isOwnCode(frame)) ?? top;
  return own === top ? codeText(top) : `${codeText(own)} › ${top.function}`;
}

/** The last stack of a thread, innermost first, in lines. */
export function nowTitle({ state, ended, frames }: ThreadNow): string {
  const lines = frames.map((frame) => codeText(frame));
  const when = ended ? "at its last sample, which is over" : "now";
  return [`${state}, ${when}:`, ...lines].join("\n");
}
