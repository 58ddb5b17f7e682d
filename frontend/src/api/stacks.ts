/** REST API of stacks, one function per operation. */

import type { StackDifference, StackGraph, StackPlaces } from "../wire/generated/models";
import { command, request } from "./http";

/** Loaded with the first answer: the first page needs none of it. */
const validators = () => import("../wire/generated/stackValidators");

/** A live target or a run, as in addresses. */
interface Source {
  readonly kind: "target" | "run";
  readonly id: string;
}

function pathOf({ kind, id }: Source): string {
  return `/${kind}s/${id}/stacks`;
}

/** Take stacks of a target for some seconds from now on; the longest of several requests counts. */
export function takeStacks(target: string, seconds: number): Promise<void> {
  return command("POST", `/targets/${target}/stacks`, { body: { seconds } });
}

/** @param query See features/stacks/link.ts. */
export async function stackGraph(
  source: Source,
  query: string,
  signal?: AbortSignal,
): Promise<StackGraph> {
  const { isStackGraph } = await validators();
  return request("GET", `${pathOf(source)}?${query}`, isStackGraph, { signal });
}

/** Code of locks and threads in a window. */
export async function stackPlaces(
  source: Source,
  query: string,
  signal?: AbortSignal,
): Promise<StackPlaces> {
  const { isStackPlaces } = await validators();
  return request("GET", `${pathOf(source)}/places?${query}`, isStackPlaces, { signal });
}

export async function stackDifference(
  query: string,
  signal?: AbortSignal,
): Promise<StackDifference> {
  const { isStackDifference } = await validators();
  return request("GET", `/stacks/difference?${query}`, isStackDifference, { signal });
}

/** Formats of stacks as a file; otlp is experimental. */
export const STACK_EXPORTS = ["folded", "pprof", "otlp"] as const;
export type StackExport = (typeof STACK_EXPORTS)[number];

/** Address of a download of a flame graph's stacks. */
export function stackExportHref(source: Source, format: StackExport, query: string): string {
  const flag = format === "otlp" ? "&experimental=true" : "";
  return `/api/v1${pathOf(source)}/export?format=${format}${flag}&${query}`;
}
