import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CATALOGUE } from "../wire/generated/catalogue";
import { STATE_PARTS, stateOf } from "./breakdown";
import {
  GROUP_NAMES,
  GROUP_NATURES,
  SINCE_FIELD,
  STATE_FIELD,
  STATES,
  type StateGroup,
  timeInState,
} from "./states";

interface Case {
  readonly name: string;
  readonly time_ns: number;
  readonly row: Readonly<Record<string, number | null>>;
  readonly states: Readonly<Record<string, number>> | null;
}

const VECTORS = new URL("../../../tests/contract/states.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(VECTORS, "utf8")) as { readonly cases: readonly Case[] };

describe("timeInState", () => {
  it.each(cases)("agrees with the Python side: $name", ({ time_ns, row, states }) => {
    const current = row[STATE_FIELD] ?? Number.NaN;
    const since = row[SINCE_FIELD] ?? Number.NaN;
    const got = Object.fromEntries(
      STATES.map(({ field, number }) => [
        field,
        timeInState(row[field] ?? 0, number, current, since, time_ns),
      ]).filter(([, value]) => value !== 0),
    );
    expect(got).toEqual(states ?? {});
  });
});

it("knows the states in the order of the catalogue", () => {
  const fields = CATALOGUE.fields.filter(
    ({ group, kind }) => group === "state" && kind === "counter",
  );
  expect(STATES.map(({ field }) => field)).toEqual(fields.map(({ name }) => name));
  expect(STATES.map(({ number }) => number)).toEqual(fields.map((_, i) => i + 1));
});

it("has the groups and natures of the Python side", () => {
  const table = new URL("../../../tests/contract/state_groups.json", import.meta.url);
  const wanted = JSON.parse(readFileSync(table, "utf8")) as {
    readonly groups: readonly { readonly nature: string; readonly in_totals: string }[];
  };
  const found = (Object.keys(GROUP_NAMES) as StateGroup[])
    // Parked threads have no state of their own.
    .filter((id) => id !== "parked")
    .map((id) => {
      const states = STATES.filter(({ group }) => group === id);
      return {
        id,
        label: GROUP_NAMES[id],
        nature: GROUP_NATURES[id],
        states: states.map((state) => state.id),
        idle: states.filter(({ idle }) => idle).map((state) => state.id),
      };
    });
  expect(found).toEqual(wanted.groups.map(({ in_totals: _, ...group }) => group));
});

it("gives each state its place among the parts of time, idle ones on top", () => {
  const states = STATE_PARTS.map(stateOf).filter((state) => state !== undefined);
  expect(new Set(states)).toEqual(new Set(STATES));
  const firstIdle = states.findIndex(({ idle }) => idle);
  expect(states.slice(firstIdle).every(({ idle }) => idle)).toBe(true);
});
