import { describe, expect, it } from "vitest";
import { BANK_STACKS, differenceOf, type Folded, frameOf, graphOf } from "../../testing/stacks";
import { countsText, samplingText } from "./counts";
import {
  certainChange,
  changeMark,
  changeRows,
  changeText,
  changeTip,
  differenceTree,
} from "./differenceTree";
import { codeText, isRuntime, moduleOf, sourceText } from "./frames";
import { PLAIN } from "./regroup";
import {
  estimateText,
  functionRows,
  placeText,
  sentenceOf,
  stackTree,
  tipOf,
  UNSEEN_NAME,
} from "./stackTree";

const BANK = graphOf(BANK_STACKS, { unseen_ns: 2e9 });
const TREE = stackTree(BANK, PLAIN);
const rowNamed = (name: string) => TREE.name.indexOf(name);

describe("stackTree", () => {
  it("fills the exact time: stacks, and what has none", () => {
    expect(TREE.total).toBeCloseTo(BANK.exact_ns);
    const unseen = TREE.unseen ?? -1;
    expect(TREE.name[unseen]).toBe(UNSEEN_NAME);
    expect(TREE.weight[unseen]).toBe(2e9);
    expect(TREE.roots.at(-1)).toBe(unseen);
  });

  it("has no row of unseen time if there is none", () => {
    expect(stackTree(graphOf(BANK_STACKS), PLAIN).unseen).toBeNull();
  });

  it("keeps siblings in the order of their names, whatever their widths", () => {
    const order = (one: number, other: number) => {
      const graph = graphOf([
        { stack: "main;zeta", ns: one, samples: 9 },
        { stack: "main;alpha", ns: other, samples: 9 },
      ]);
      const tree = stackTree(graph, PLAIN);
      return tree.children[0]?.map((row) => tree.name[row]);
    };
    expect(order(9, 1)).toEqual(["alpha", "zeta"]);
    expect(order(1, 9)).toEqual(["alpha", "zeta"]);
  });

  it("says a time with its interval and samples", () => {
    const row = rowNamed("transfer");
    expect(tipOf(TREE, row, BANK.exact_ns)).toEqual([
      "transfer",
      "1.24 s ± 0.32 (11 %), 64 samples",
      "itself 0 s",
      "src/bank.c:77",
      "native, bank",
    ]);
    expect(sentenceOf(TREE, rowNamed("report"), BANK.exact_ns)).toContain("7 samples: few");
    expect(tipOf(TREE, TREE.unseen ?? -1, BANK.exact_ns)[2]).toContain("Asleep since before");
  });
});

describe("estimateText", () => {
  it.each([
    [1.24e9, 1.16e9, 1.32e9, "1.24 s ± 0.08"],
    [12.3e6, 11.1e6, 13.5e6, "12.3 ms ± 1.2"],
    [480e6, 455e6, 505e6, "0.480 s ± 0.025"],
    [5e9, 5e9, 5e9, "5.00 s, exact"],
    [0, 0, 0, "0 s, exact"],
    [1e9, 0.9e9, 1.15e9, "1.00 s ± 0.15"],
    [1e9, 0.4e9, 1.1e9, "1.00 s (0.400 to 1.10 s)"],
    [1e9, 0.95e9, 1e9, "1.00 s (0.950 to 1.00 s)"],
    [2e6, 0.9e6, 1.1e9, "2.00 ms (0.900 ms to 1.10 s)"],
  ])("%d ns from %d to %d: %s", (ns, low_ns, high_ns, text) => {
    expect(estimateText({ ns, low_ns, high_ns })).toBe(text);
  });
});

describe("functionRows", () => {
  const rows = functionRows(TREE, BANK.exact_ns);
  const named = (name: string) => rows.find(({ frame }) => frame.function === name);

  it("sums a function over its callers", () => {
    const row = named("update_account");
    expect(row?.ns).toBeCloseTo(9.44e9);
    expect(row?.samples).toBe(476);
    expect(row?.path.at(-1)).toBe("update_account");
    // The widest box is the one below worker.
    expect(row?.path).not.toContain("transfer");
  });

  it("counts a function below itself once", () => {
    const graph = graphOf([{ stack: "f;g;f", ns: 10, samples: 5 }]);
    const found = functionRows(stackTree(graph, PLAIN), graph.exact_ns);
    expect(found.map(({ frame, ns, self_ns }) => [frame.function, ns, self_ns])).toEqual([
      ["f", 10, 10],
      ["g", 10, 0],
    ]);
  });
});

describe("frames", () => {
  it("name code by function and place", () => {
    expect(codeText(frameOf("f@bank!src/bank.c:41"))).toBe("f (bank.c:41)");
    expect(codeText(frameOf("f@bank"))).toBe("f");
    expect(sourceText({ file: "bank.c", line: 0 })).toBe("bank.c");
    expect(placeText(frameOf("f@bank!src/bank.c:41"), [])).toBe("src/bank.c");
    const lines = [41, 57, 60, 70].map((line) => ({ line, amount: 1 }));
    expect(placeText(frameOf("f@bank!src/bank.c:41"), lines)).toBe(
      "src/bank.c:41, also 57, 60 and 1 more",
    );
  });

  it("have a module, or what stands for it", () => {
    expect(moduleOf(frameOf("f@libx.so"))).toBe("libx.so");
    expect(moduleOf({ ...frameOf("python:f@m!/srv/app.py:3"), module: "" })).toBe("app.py");
    expect(moduleOf({ ...frameOf("go:f"), module: "" })).toBe("Go");
    expect(moduleOf(frameOf("kernel:schedule"))).toBe("kernel");
  });

  it.each([
    ["_start@bank", true],
    ["__libc_start_main@libc.so.6", true],
    ["start_thread@libc.so.6", true],
    ["_PyEval_EvalFrameDefault@python3.11", true],
    ["PyObject_Call@libpython3.13.so.1.0", true],
    ["JavaCalls::call_helper@libjvm.so", true],
    ["go:runtime.gopark@server", true],
    ["go:internal/runtime/maps.Get@server", true],
    ["v8:run@node!node:internal/main:23", true],
    ["python:_bootstrap@x!threading.py:3", true],
    ["python:Thread._bootstrap_inner@!threading.py:3", true],
    ["python:Thread.run@!threading.py:982", true],
    ["python:Pool.run@!pool.py:9", false],
    ["python:main@x!<frozen runpy>:3", true],
    ["main@bank", false],
    ["pthread_mutex_lock@libc.so.6", false],
    ["go:main.runtime@server", false],
    ["python:run@x!app.py:3", false],
    ["node_new@nodes", false],
    ["kernel:schedule", false],
  ])("%s belongs to a runtime: %s", (text, runtime) => {
    expect(isRuntime(frameOf(text))).toBe(runtime);
  });
});

/** Other code, the same before and after. */
const REST: readonly Folded[] = [{ stack: "rest", ns: 5e9, samples: 500 }];

describe("differenceTree", () => {
  const at = (ns: number, samples: number, name: string): Folded => ({
    stack: `main;${name}`,
    ns,
    samples,
  });
  const answer = differenceOf(
    [at(1e9, 200, "grew"), at(3e9, 600, "shrank"), at(50e6, 10, "unsure")],
    [at(2e9, 400, "grew"), at(1e9, 200, "shrank"), at(70e6, 14, "unsure")],
  );
  const tree = differenceTree(answer, PLAIN);
  const changeOf = (name: string) => {
    const change = tree.change[tree.name.indexOf(name)];
    if (change === undefined) throw new Error(name);
    return change;
  };

  it("calls only certain changes changes", () => {
    expect(["grew", "shrank", "unsure"].map((name) => changeMark(changeOf(name)))).toEqual([
      "▲",
      "▼",
      "",
    ]);
    expect(certainChange(changeOf("grew"))).toBeCloseTo(0.1);
    expect(certainChange(changeOf("unsure"))).toBe(0);
    expect(changeText(changeOf("grew"))).toBe("+0.100 s/s (+0.0828 to +0.116)");
    expect(changeTip(tree, tree.name.indexOf("unsure"))[2]).toContain("No certain change.");
  });

  it("is as wide as the greater side", () => {
    expect(tree.weight[tree.name.indexOf("shrank")]).toBeCloseTo(0.3);
  });

  it("sums functions over callers", () => {
    const before = [{ stack: "a;f", ns: 1e9, samples: 100 }];
    const once = [{ stack: "a;f", ns: 3e9, samples: 300 }];
    const twice = [
      { stack: "a;f", ns: 2e9, samples: 200 },
      { stack: "b;f", ns: 1e9, samples: 100 },
    ];
    const [whole, parts] = [once, twice].map((after) => {
      const drawn = differenceTree(differenceOf([...before, ...REST], [...after, ...REST]), PLAIN);
      return changeRows(drawn).find(({ frame }) => frame.function === "f");
    });
    expect([parts?.before, parts?.after]).toEqual([0.1, expect.closeTo(0.3)]);
    expect(parts?.path).toEqual(["a", "f"]);
    // Calls from two places are as certain as from one.
    expect(parts?.low).toBeCloseTo(whole?.low ?? 0, 5);
    expect(parts?.high).toBeCloseTo(whole?.high ?? 0, 5);
  });
});

it("says what became of stacks", () => {
  const none = {
    taken: 9,
    without_stack: 0,
    beyond_limit: 0,
    no_room: 0,
    beyond_bound: 0,
    unasked: 0,
  };
  expect(countsText(none)).toBe("");
  expect(countsText({ ...none, beyond_limit: 4 })).toBe(
    "Of the stacks of all targets of this host meanwhile, 9 were taken; 4 were beyond the limit a second.",
  );
  const sampling = { until_unix_us: 1, trigger: "tracepoint", cpu_hz: 49, reason: "" } as const;
  expect(samplingText(sampling)).toBe(
    "Taking stacks at waits, at a tracepoint, and of each CPU at 49 Hz.",
  );
  expect(samplingText({ ...sampling, until_unix_us: null })).toBe("No stacks are being taken.");
  expect(samplingText({ ...sampling, trigger: "none", cpu_hz: 0 })).toBe(
    "Stacks are requested, but none are taken yet.",
  );
});
