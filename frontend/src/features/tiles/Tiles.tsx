/** Feature `tiles`: the worker's tile views in, numbers with sparklines out. */

import { type CSSProperties, memo } from "react";
import { READABLE_MS, useSelected, useThrottled } from "../../base/useStore";
import { Sparkline } from "../../chart/Sparkline";
import { assessmentText } from "../../stream/assessment";
import { useLiveClient } from "../../stream/client";
import { fieldNamed, formatValue, NO_VALUE } from "../../stream/format";
import type { TargetView } from "../../stream/targetView";
import type { Assessment, TileId, TileView } from "../../stream/views";
import { StatusIcon } from "../../ui/Notices";
import { Tooltip } from "../../ui/Overlays";
import type { Target } from "../../wire/generated/models";
import styles from "./Tiles.module.css";

/** Field of each tile based on counters. */
const FIELDS: Readonly<Partial<Record<TileId, string>>> = {
  cpu: "cpu_run_ns",
  wait: "cpu_delay_ns",
  blkio: "blkio_delay_ns",
  network: "net_read_bytes",
  disk: "disk_read_bytes",
  switches: "voluntary_switches",
};

/**
 * Why a tile has no value.
 * @param reason the collector's reason, for a field that the target lacks.
 * @param given fields of the target.
 */
export function tileAbsentReason(
  tile: TileId,
  reason: string,
  given: readonly string[],
  liveThreads: number,
): string {
  const field = FIELDS[tile];
  if (field === undefined || !given.includes(field)) {
    return reason;
  }
  if (liveThreads === 0) {
    return "No live threads.";
  }
  const needs = fieldNamed(field)?.meaning.match(/Needs .*$/)?.[0] ?? "";
  return `No thread has a value. ${needs}`.trim();
}

/**
 * Tiles that take no space without a value: the line below the panels names them with the reason.
 */
const NAMED_BELOW: ReadonlySet<string> = new Set<TileId>(["blkio", "power"]);

const aliveOf = (view: TargetView | null) => view?.live_threads ?? 0;

/** The process in a few numbers. */
export const Tiles = memo(function Tiles({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const tiles = useThrottled(client.tiles, READABLE_MS);
  const alive = useSelected(client.target, aliveOf);
  const shown = tiles?.filter(({ id, state }) => state !== "absent" || !NAMED_BELOW.has(id));
  return (
    <div className={styles.frame}>
      <ul
        className={`surface ${styles.tiles}`}
        aria-label="The process in numbers"
        style={columnsOf(shown?.length ?? 0)}
      >
        {shown?.map((tile) => (
          <Tile
            key={tile.id}
            tile={tile}
            reason={tileAbsentReason(tile.id, tile.reason, target.fields, alive)}
          />
        ))}
      </ul>
    </div>
  );
});

/** Number of columns in one row, and in two balanced rows. */
function columnsOf(tiles: number): CSSProperties {
  const columns = {
    "--one-row": Math.max(1, tiles),
    "--two-rows": Math.max(1, Math.ceil(tiles / 2)),
  };
  return columns as CSSProperties;
}

interface TileProps {
  readonly tile: TileView;
  /** Why there is no value, if there is none. */
  readonly reason: string;
}

function Tile({ tile, reason }: TileProps) {
  const { state, second } = tile;
  return (
    <li className={styles.tile} data-tile={tile.id} data-state={state}>
      <p className={styles.label}>
        <span className={styles.name}>
          {tile.note === undefined ? tile.label : <Noted note={tile.note}>{tile.label}</Noted>}
        </span>
        {tile.assessment === null || state !== "ok" ? null : (
          <Judged assessment={tile.assessment} unit={tile.unit} />
        )}
      </p>
      {state === "absent" ? (
        <Tooltip className={styles.absent} text={reason}>
          <span className={styles.value}>{NO_VALUE}</span>
          <span className={styles.reason}>{reason}</span>
        </Tooltip>
      ) : (
        <>
          <Amount tile={tile} value={tile.value} label={tile.first_label} />
          {second === null ? null : (
            <Amount tile={tile} value={second.value} label={second.label} />
          )}
          <span className={styles.spark}>
            <Sparkline
              values={tile.spark}
              width={132}
              height={26}
              colour="var(--accent)"
              band={bandOf(tile)}
            />
          </span>
        </>
      )}
    </li>
  );
}

const SIGNS: Readonly<Record<Assessment["level"], string>> = {
  normal: "",
  high: "▲ high",
  far_high: "▲▲ high",
  low: "▼ low",
  far_low: "▼▼ low",
};
const TRENDS: Readonly<Record<Assessment["trend"], string>> = {
  rising: "↗",
  falling: "↘",
  steady: "",
};

/** Assessment as a sign; the sentence is for the tooltip and screen readers. */
function Judged({
  assessment,
  unit,
}: {
  readonly assessment: Assessment;
  readonly unit: TileView["unit"];
}) {
  const text = assessmentText(assessment, unit);
  return (
    <Tooltip text={text} className={styles.judged}>
      <span data-level={assessment.level} data-trend={assessment.trend}>
        <span aria-hidden="true">
          {TRENDS[assessment.trend]} {SIGNS[assessment.level]}
        </span>
        <span className="visually-hidden">{text}</span>
      </span>
    </Tooltip>
  );
}

/** Normal range of the sparkline; for a pair both refer to the sum. */
function bandOf({ assessment }: TileView): readonly [number, number] | undefined {
  if (assessment === null) return undefined;
  const { median, spread } = assessment;
  return [Math.max(0, median - spread), median + spread];
}

/** A label with an explanation. */
function Noted({ note, children }: { readonly note: string; readonly children: string }) {
  return (
    <Tooltip text={note} className={styles.noted}>
      {children} <StatusIcon status="info" />
    </Tooltip>
  );
}

interface AmountProps {
  readonly tile: TileView;
  readonly value: number;
  readonly label: string;
}

function Amount({ tile, value, label }: AmountProps) {
  const [number, ...unit] = formatValue(value, tile.unit).split(" ");
  return (
    <p className={styles.amount}>
      <span className={styles.value}>{number}</span>{" "}
      <span className={styles.unit}>
        {unit.join(" ")} {label}
      </span>
    </p>
  );
}
