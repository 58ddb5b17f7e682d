/** Stacks for tests: answers of the backend, built from folded stacks. */

import type {
  StackCounts,
  StackDifference,
  StackFrame,
  StackGraph,
  StackNode,
  StackPlace,
  StackPlaces,
  StackSampling,
} from "../wire/generated/models";

/** One stack, outermost function first: "kind:function@module!file:line", or less of it. */
export interface Folded {
  readonly stack: string;
  readonly ns: number;
  readonly samples: number;
}

const FRAME = /^(?:([a-z0-9]+):)?([^@!]+)(?:@([^!]*))?(?:!(.+):([0-9]+))?$/;

export function frameOf(text: string): StackFrame {
  const [, kind = "native", name = "", module = "bank", file = "", line = "0"] =
    FRAME.exec(text) ?? [];
  return {
    kind,
    function: name,
    file,
    line: Number(line),
    module: kind === "kernel" ? "" : module,
    inlined: false,
    named: true,
  };
}

export const NO_COUNTS: StackCounts = {
  taken: 0,
  without_stack: 0,
  beyond_limit: 0,
  no_room: 0,
  beyond_bound: 0,
  unasked: 0,
};

export const SAMPLING: StackSampling = {
  until_unix_us: 1_700_000_015_000_000,
  trigger: "tracepoint",
  cpu_hz: 49,
  reason: "",
};

/** Ends of the 95 % interval of a part, as Wilson's for all samples of the whole. */
function endsOf(part: number, whole: number, samples: number): readonly [number, number] {
  if (!(whole > 0) || samples === 0) return [part, part];
  const [share, spread] = [part / whole, 1.96 ** 2 / samples];
  const centre = (share + spread / 2) / (1 + spread);
  const half = Math.sqrt(share * (1 - share) * spread + spread ** 2 / 4) / (1 + spread);
  const [low, high] = [Math.max(0, centre - half), Math.min(1, centre + half)];
  return [whole * Math.min(share, low), whole * Math.max(share, high)];
}

interface Tree {
  readonly frames: StackFrame[];
  readonly nodes: { parent: number; frame: number; ns: number; self_ns: number; samples: number }[];
}

function treeOf(stacks: readonly Folded[]): Tree {
  const frames = new Map<string, number>();
  const tree: Tree = { frames: [], nodes: [] };
  const known = new Map<string, number>();
  for (const { stack, ns, samples } of stacks) {
    let parent = -1;
    let path = "";
    for (const text of stack.split(";")) {
      const frame = frames.get(text) ?? frames.size;
      if (!frames.has(text)) {
        frames.set(text, frame);
        tree.frames.push(frameOf(text));
      }
      path += `;${text}`;
      const at = known.get(path) ?? tree.nodes.length;
      if (!known.has(path)) {
        known.set(path, at);
        tree.nodes.push({ parent, frame, ns: 0, self_ns: 0, samples: 0 });
      }
      const node = tree.nodes[at];
      if (node) {
        node.ns += ns;
        node.samples += samples;
      }
      parent = at;
    }
    const leaf = tree.nodes[parent];
    if (leaf) leaf.self_ns += ns;
  }
  return tree;
}

/** A flame graph of these stacks. */
export function graphOf(stacks: readonly Folded[], changes: Partial<StackGraph> = {}): StackGraph {
  const { frames, nodes } = treeOf(stacks);
  const sum = (value: (one: Folded) => number) =>
    stacks.reduce((all, each) => all + value(each), 0);
  const unseen_ns = changes.unseen_ns ?? 0;
  const exact_ns = changes.exact_ns ?? sum(({ ns }) => ns) + unseen_ns;
  const samples = sum((one) => one.samples);
  return {
    from_ns: 0,
    to_ns: 60e9,
    side: "threads",
    exact_ns,
    unseen_ns,
    samples,
    frames,
    nodes: nodes.map((node): StackNode => {
      const [low_ns, high_ns] = endsOf(node.ns, exact_ns - unseen_ns, samples);
      return { ...node, low_ns, high_ns };
    }),
    omitted_nodes: 0,
    counts: NO_COUNTS,
    sampling: SAMPLING,
    reason: "",
    ...changes,
  };
}

const START = "_start@bank;main@bank!src/main.c:12";
const WORKER = "clone3@libc.so.6;start_thread@libc.so.6;worker@bank!src/worker.c:30";
const LOCKED = "__lll_lock_wait@libc.so.6;kernel:__x64_sys_futex;kernel:futex_wait;kernel:schedule";

/** A bank whose workers wait for one mutex, in two functions. */
export const BANK_STACKS: readonly Folded[] = [
  {
    stack: `${WORKER};update_account@bank!src/bank.c:41;pthread_mutex_lock@libc.so.6;${LOCKED}`,
    ns: 8.2e9,
    samples: 412,
  },
  {
    stack: `${WORKER};transfer@bank!src/bank.c:77;update_account@bank!src/bank.c:57;pthread_mutex_lock@libc.so.6;${LOCKED}`,
    ns: 1.24e9,
    samples: 64,
  },
  {
    stack: `${START};report@bank!src/report.c:9;pthread_mutex_lock@libc.so.6;${LOCKED}`,
    ns: 0.3e9,
    samples: 7,
  },
];

/** Stacks that release the mutex. */
export const BANK_RELEASES: readonly Folded[] = [
  {
    stack: `${WORKER};slow_io@bank!src/io.c:88;pthread_mutex_unlock@libc.so.6;kernel:futex_wake`,
    ns: 7.9e9,
    samples: 401,
  },
  {
    stack: `${WORKER};update_account@bank!src/bank.c:49;pthread_mutex_unlock@libc.so.6;kernel:futex_wake`,
    ns: 1.84e9,
    samples: 82,
  },
];

export function placeOf(text: string, changes: Partial<StackPlace> = {}): StackPlace {
  const { function: name, file, line, module } = frameOf(text);
  return {
    ...{ function: name, file, line, module },
    ...{ share: 0.84, low: 0.8, high: 0.88, samples: 412 },
    ...changes,
  };
}

export function placesOf(changes: Partial<StackPlaces> = {}): StackPlaces {
  return { from_ns: 0, to_ns: 60e9, locks: [], threads: [], ...changes };
}

/** Ends of the interval of a rate, of a side over ten seconds. */
function rateEnds(rate: number, side: readonly Folded[]): readonly [number, number] {
  const sum = (value: (one: Folded) => number) => side.reduce((all, each) => all + value(each), 0);
  return endsOf(
    rate,
    sum(({ ns }) => ns) / 10e9,
    sum(({ samples }) => samples),
  );
}

/** A difference of two sets of stacks, over a window of ten seconds each. */
export function differenceOf(
  before: readonly Folded[],
  after: readonly Folded[],
  changes: Partial<StackDifference> = {},
): StackDifference {
  const all = treeOf([...before, ...after]);
  const [was, is] = [before, after].map((side) => {
    const own = treeOf([
      ...[...before, ...after].map((one) => ({ ...one, ns: 0, samples: 0 })),
      ...side,
    ]);
    return own.nodes;
  });
  const selection = (label: string, side: readonly Folded[]) => ({
    label,
    seconds: 10,
    exact_ns: side.reduce((sum, { ns }) => sum + ns, 0),
    unseen_ns: 0,
    samples: side.reduce((sum, { samples }) => sum + samples, 0),
  });
  return {
    before: selection("the time before", before),
    after: selection("the window", after),
    frames: all.frames,
    nodes: all.nodes.map(({ parent, frame }, at) => {
      const [x, y] = [(was?.[at]?.ns ?? 0) / 10e9, (is?.[at]?.ns ?? 0) / 10e9];
      const [before_low, before_high] = rateEnds(x, before);
      const [after_low, after_high] = rateEnds(y, after);
      const down = Math.hypot(y - after_low, before_high - x);
      const up = Math.hypot(after_high - y, x - before_low);
      return {
        ...{ parent, frame, before: x, after: y, before_low, before_high, after_low, after_high },
        ...{ low: y - x - down, high: y - x + up },
      };
    }),
    omitted_nodes: 0,
    reason: "",
    ...changes,
  };
}
