/** Columns of the tables of traces. */

import { Fragment } from "react";
import { traceHref } from "../../base/route";
import { counted } from "../../stream/format";
import { PageLink } from "../../ui/Controls";
import type { SortedColumn } from "../../ui/SortedTable";
import { Share } from "../facts/FactColumns";
import { shareText, timeText } from "./callTree";

type More<T> = Partial<SortedColumn<T>>;

/** Nanoseconds, in a fitting unit. */
export function nsColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  more: More<T> = {},
): SortedColumn<T> {
  return { id, label, value, cell: (row) => timeText(value(row)), width: 6, ...more };
}

export function numberColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  more: More<T> = {},
): SortedColumn<T> {
  return { id, label, value, cell: (row) => counted(value(row), "", ""), width: 5.5, ...more };
}

/** A share with a bar. */
export function partColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  more: More<T> = {},
): SortedColumn<T> {
  return { id, label, value, cell: (row) => <Share value={value(row)} />, width: 9, ...more };
}

/** A share as a number only. */
export function percentColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  more: More<T> = {},
): SortedColumn<T> {
  const cell = (row: T) => (value(row) === 0 ? "0" : shareText(value(row)));
  return { id, label, value, cell, width: 5.5, ...more };
}

export function traceColumn<T>(trace: (row: T) => string, more: More<T> = {}): SortedColumn<T> {
  return {
    id: "trace",
    label: "Request",
    text: true,
    value: trace,
    cell: (row) => <TraceLink trace={trace(row)} />,
    width: 6,
    ...more,
  };
}

/** Links to traces, the first of which is the sort key. */
export function tracesColumn<T>(
  traces: (row: T) => readonly string[],
  more: More<T> = {},
): SortedColumn<T> {
  const cell = (row: T) => <TraceLinks traces={traces(row)} />;
  return traceColumn((row) => traces(row)[0] ?? "", { cell, width: 16, ...more });
}

export function TraceLinks({ traces }: { readonly traces: readonly string[] }) {
  return traces.map((trace, at) => (
    <Fragment key={trace}>
      {at === 0 ? "" : ", "}
      <TraceLink trace={trace} />
    </Fragment>
  ));
}

/** Link to a trace, labelled with the first digits of its ID. */
export function TraceLink({ trace }: { readonly trace: string }) {
  return trace === "" ? null : (
    <PageLink href={traceHref(trace)} title={`Trace ${trace}`}>
      <code>{trace.slice(0, 8)}</code>
    </PageLink>
  );
}
