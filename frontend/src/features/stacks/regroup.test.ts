import { describe, expect, it } from "vitest";
import { type Folded, graphOf } from "../../testing/stacks";
import type { StackGraph } from "../../wire/generated/models";
import { type Grouping, PLAIN, type Regrouped, regrouped } from "./regroup";

function columnsOf({ frames, nodes }: StackGraph) {
  return {
    frames,
    nodes,
    amounts: [nodes.map(({ ns }) => ns), nodes.map(({ samples }) => samples)],
    own: nodes.map(({ self_ns }) => self_ns),
    // One spread a row, as if each of its samples had the same.
    spreads: [{ of: 0, samples: null, values: nodes.map(({ samples }) => samples) }],
  };
}

/** Paths of a tree and the time below each, as text. */
function pathsOf(tree: Regrouped): Record<string, number> {
  const paths: string[] = [];
  return Object.fromEntries(
    tree.frame.map((frame, row) => {
      const above = tree.parent[row] ?? -1;
      paths[row] = above < 0 ? frame.function : `${paths[above]} ${frame.function}`;
      return [paths[row], tree.amounts[0]?.[row] ?? 0];
    }),
  );
}

const fold = (stacks: readonly Folded[], grouping: Partial<Grouping>) =>
  regrouped(columnsOf(graphOf(stacks)), { ...PLAIN, ...grouping });
const stack = (text: string, ns: number, samples = 100): Folded => ({ stack: text, ns, samples });

describe("regrouped", () => {
  it("merges calls from several lines of a function, and keeps the lines", () => {
    const tree = fold([stack("main;f@a!f.c:3", 60), stack("main;f@a!f.c:9", 40)], {});
    expect(pathsOf(tree)).toEqual({ main: 100, "main f": 100 });
    expect(tree.lines[1]).toEqual([
      { line: 3, amount: 60 },
      { line: 9, amount: 40 },
    ]);
    expect(tree.frame[1]?.line).toBe(3);
  });

  it("keeps functions of the same name in two files apart", () => {
    const tree = fold([stack("main;f@a!f.c:3", 60), stack("main;f@a!g.c:3", 40)], {});
    expect(tree.frame).toHaveLength(3);
  });

  it("folds direct recursion", () => {
    const tree = fold([stack("main;f;f;f;g", 60), stack("main;f;g", 40)], { foldRecursion: true });
    expect(pathsOf(tree)).toEqual({ main: 100, "main f": 100, "main f g": 100 });
  });

  it("folds recursion through other functions without counting time twice", () => {
    const tree = fold([stack("a;b;a;c", 70), stack("a;b;d", 30)], { foldRecursion: true });
    expect(pathsOf(tree)).toEqual({ a: 100, "a b": 30, "a b d": 30, "a c": 70 });
  });

  it("leaves recursion alone unless asked", () => {
    expect(fold([stack("f;f", 5)], {}).frame).toHaveLength(2);
  });

  it("hides kernel frames: their time is their caller's", () => {
    const tree = fold([stack("main;read;kernel:sys_read;kernel:schedule", 50)], {
      hideKernel: true,
    });
    expect(pathsOf(tree)).toEqual({ main: 50, "main read": 50 });
    expect(tree.own).toEqual([0, 50]);
  });

  it("hides runtime frames in the middle and at the root", () => {
    const tree = fold(
      [
        stack("_start;_PyEval_EvalFrameDefault@libpython3.11.so.1.0;python:serve@!app.py:4", 30),
        stack("clone3@libc.so.6;start_thread@libc.so.6;work", 20),
      ],
      { hideRuntime: true },
    );
    expect(pathsOf(tree)).toEqual({ serve: 30, work: 20 });
  });

  it("says where time of hidden frames alone goes", () => {
    const tree = fold([stack("kernel:kthread;kernel:schedule", 10), stack("main", 5)], {
      hideKernel: true,
    });
    expect(pathsOf(tree)).toEqual({ "hidden frames only": 10, main: 5 });
    // Not exact: its spread is that of the hidden frames.
    expect(tree.spreads[0]?.[0]).toBe(100);
  });

  it("collapses frames of one module in a row", () => {
    const tree = fold([stack("main@app;f@lib;g@lib;h@app", 10), stack("main@app;k@lib", 5)], {
      byModule: true,
    });
    expect(pathsOf(tree)).toEqual({ app: 15, "app lib": 15, "app lib app": 10 });
  });

  it("folds modules that call back only with recursion folded, too", () => {
    const tree = fold([stack("main@app;g@lib;h@app", 10)], { byModule: true, foldRecursion: true });
    expect(pathsOf(tree)).toEqual({ app: 10 });
  });

  it("never loses time or samples", () => {
    const stacks = [
      stack("a;b;a;kernel:x", 7, 3),
      stack("a;_start;c@lib", 11, 5),
      stack("kernel:y", 13, 6),
      stack("start_thread;d;d;b;d", 17, 8),
    ];
    const options = [false, true];
    for (const foldRecursion of options) {
      for (const hideRuntime of options) {
        for (const hideKernel of options) {
          for (const byModule of options) {
            const tree = fold(stacks, { foldRecursion, hideRuntime, hideKernel, byModule });
            const roots = tree.parent.flatMap((above, row) => (above < 0 ? [row] : []));
            const sum = (set: number) =>
              roots.reduce((all, row) => all + (tree.amounts[set]?.[row] ?? 0), 0);
            expect(sum(0)).toBeCloseTo(48);
            expect(sum(1)).toBeCloseTo(22);
            expect(tree.own.reduce((all, one) => all + one, 0)).toBeCloseTo(48);
          }
        }
      }
    }
  });
});

describe("spreads", () => {
  it("stay as they are where a row keeps its samples", () => {
    const tree = fold([stack("main;kernel:x", 100, 25)], { hideKernel: true });
    expect(tree.source).toEqual([0]);
    expect(tree.spreads).toEqual([[25]]);
  });

  it("are the mean by time where rows are merged", () => {
    const tree = fold([stack("x;f;g", 100, 30), stack("x;_start;f;h", 300, 10)], {
      hideRuntime: true,
    });
    const f = tree.frame.findIndex((frame) => frame.function === "f");
    expect(tree.source[f]).toBeNull();
    expect(tree.spreads[0]?.[f]).toBe(15);
  });

  it("stay with the rest when a part has moved away", () => {
    const tree = fold([stack("a;b;a;c", 75, 75), stack("a;b;d", 25, 25)], { foldRecursion: true });
    const b = tree.frame.findIndex((frame) => frame.function === "b");
    expect(tree.source[b]).toBeNull();
    expect(tree.spreads[0]?.[b]).toBe(100);
    expect(tree.source[0]).toBe(0);
  });
});
