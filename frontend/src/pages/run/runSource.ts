import { framesHref } from "../../api/runs";
import type { RunSource } from "../../model/contract";
import type { RunManifest } from "../../wire/generated/models";

/** What the worker needs of a manifest. */
export function runSource(run: RunManifest): RunSource {
  return {
    id: run.id,
    url: framesHref(run.id),
    target: run.target,
    from_s: run.from_ns / 1e9,
    to_s: run.to_ns / 1e9,
    instants: run.counts.frames,
    rows: run.counts.thread_samples,
  };
}
