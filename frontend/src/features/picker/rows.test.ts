import { describe, expect, it } from "vitest";
import { process } from "../../testing/backend";
import type { Process } from "../../wire/generated/models";
import { type Asked, expressionHolds, expressionOf, type Grouping, pickerRows } from "./rows";

const one = (pid: number, name: string, more: Partial<Process> = {}): Process =>
  process({ pid, start_ticks: pid, name, command: name, cpu_percent: 1, threads: 1, ...more });

const shop = { id: "abcdef0123456789", name: "shop", runtime: "docker", pod: null } as const;
const ALL: readonly Process[] = [
  one(1, "systemd", { parent: null }),
  one(10, "postgres", { parent: 1, unit: "postgresql.service", cpu_percent: 2 }),
  one(11, "checkpointer", { parent: 10, unit: "postgresql.service", cpu_percent: 30 }),
  one(12, "walwriter", { parent: 10, unit: "postgresql.service", cpu_percent: null }),
  one(20, "web", { parent: 1, container: shop, cpu_percent: 5, rss_bytes: 100 }),
  one(21, "web", { parent: 20, container: shop, cpu_percent: 5, rss_bytes: 20 }),
];

/** Rows as text: indent, name, whether open, and figures. */
function shown(grouping: Grouping, asked: Partial<Asked> = {}): readonly string[] {
  const { rows } = pickerRows(ALL, {
    ...{ grouping, typed: "", fits: () => true, turned: new Set<string>(), ...asked },
  });
  return rows.map(({ depth, process: each, label, open, figures }) => {
    const sign = open === null ? "" : open ? "- " : "+ ";
    const { cpu_percent, processes } = figures;
    return `${" ".repeat(depth - 1)}${sign}${each?.name ?? label} ${processes} ${cpu_percent}`;
  });
}

describe("pickerRows", () => {
  it("lists processes alone, busiest first", () => {
    expect(shown("none", { typed: "web" })).toEqual(["web 1 5", "web 1 5"]);
    expect(shown("none")[0]).toBe("checkpointer 1 30");
  });

  it("lists the process whose pid is typed first, though others have its digits", () => {
    expect(shown("none", { typed: "1" }).slice(0, 2)).toEqual(["systemd 1 1", "checkpointer 1 30"]);
  });

  it("lists processes below their parents; what is closed says what all below it use", () => {
    expect(shown("tree")).toEqual(["- systemd 6 1", " + postgres 3 32", " + web 2 10"]);
    expect(shown("tree", { turned: new Set(["10@10"]) })).toEqual([
      "- systemd 6 1",
      " - postgres 3 2",
      "  checkpointer 1 30",
      "  walwriter 1 null",
      " + web 2 10",
    ]);
    expect(shown("tree", { turned: new Set(["1@1"]) })).toEqual(["+ systemd 6 43"]);
  });

  it("opens the way to what was searched for", () => {
    expect(shown("tree", { typed: "walw" })).toEqual([
      "- systemd 6 1",
      " - postgres 3 2",
      "  walwriter 1 null",
    ]);
    // A row opened by hand shows its whole subtree.
    const turned = new Set(["10@10"]);
    expect(shown("tree", { typed: "name:postgres", turned }).slice(1)).toEqual([
      " - postgres 3 2",
      "  checkpointer 1 30",
      "  walwriter 1 null",
    ]);
  });

  it("lists containers and units with what is in them, those without one last", () => {
    expect(shown("container")).toEqual([
      "+ shop 2 10",
      "- no container 4 33",
      " checkpointer 1 30",
      " postgres 1 2",
      " systemd 1 1",
      " walwriter 1 null",
    ]);
    const turned = new Set(["unit:"]);
    expect(shown("unit", { turned })).toEqual(["+ postgresql.service 3 32", "+ no unit 3 11"]);
    expect(shown("unit", { typed: "wal" })).toEqual([
      "- postgresql.service 3 32",
      " walwriter 1 null",
    ]);
  });

  it("lists pods above their containers, beside containers of none", () => {
    const uid = "0f1e2d3c-1111-2222-3333-444455556666";
    const held = (id: string, name: string) =>
      ({ id, name, runtime: "kubernetes", pod: uid, pod_name: "shop/db-0" }) as const;
    const pods = [
      one(30, "postgres", { container: held("aaa", "db"), cpu_percent: 4 }),
      one(31, "postgres", { container: held("aaa", "db"), cpu_percent: 3 }),
      one(32, "exporter", { container: held("bbb", "metrics"), cpu_percent: 1 }),
    ];
    const listed = (asked: Partial<Asked> = {}) =>
      pickerRows([...ALL, ...pods], {
        ...{ grouping: "container", typed: "", fits: () => true, turned: new Set(), ...asked },
      }).rows.slice(0, 6);
    const brief = (rows: ReturnType<typeof listed>) =>
      rows.map(({ depth, label, process: each, open }) => [depth, each?.name ?? label, open]);
    const [first, pod] = listed();
    expect(first?.label).toBe("shop");
    expect(pod).toMatchObject({ label: "shop/db-0", note: "pod, 2 containers", open: false });
    expect(pod?.group).toEqual({ kind: "pod", value: uid, pid: null, start_ticks: null });
    expect(pod?.figures).toMatchObject({ processes: 3, cpu_percent: 8, threads: 3 });
    expect(brief(listed({ turned: new Set([`pod:${uid}`, "container:aaa"]) }))).toEqual([
      [1, "shop", false],
      [1, "shop/db-0", true],
      [2, "db", true],
      [3, "postgres", null],
      [3, "postgres", null],
      [2, "metrics", false],
    ]);
    expect(brief(listed({ typed: "shop/db exporter" }))).toEqual([
      [1, "shop/db-0", true],
      [2, "metrics", true],
      [3, "exporter", null],
    ]);
    const nameless = one(33, "db", { container: { ...held("ccc", "db"), pod_name: null } });
    const asked = { grouping: "container", typed: "0f1e2d3c", fits: () => true } as const;
    const [top] = pickerRows([nameless], { ...asked, turned: new Set() }).rows;
    expect(top?.label).toBe("pod 0f1e2d3c");
  });

  it("says what attaches to all of a row", () => {
    const asked = { typed: "", fits: () => true, turned: new Set<string>() };
    const groups = (grouping: Grouping) =>
      pickerRows(ALL, { ...asked, grouping }).rows.map(({ group }) => group);
    expect(groups("tree")[1]).toEqual({ kind: "tree", pid: 10, start_ticks: 10, value: null });
    const container = { kind: "container", value: shop.id, pid: null, start_ticks: null };
    expect(groups("container").slice(0, 2)).toEqual([container, null]);
    expect(groups("none").every((group) => group === null)).toBe(true);
  });
});

const NGINX = process({
  ...{ pid: 7, name: "nginx", command: "nginx: worker process", user: "www-data" },
  ...{ uid: 33, ports: [80] },
});
const WORKER = process({ pid: 8, name: "worker-3", command: "worker --jobs 3", user: "root" });

describe("expressionHolds", () => {
  it.each([
    ["worker", true, true],
    ["WORKER", true, true],
    ["name:nginx", true, false],
    ["name:work*", false, true],
    ["name:worker-?", false, true],
    ["name:worker-[1-3]", false, true],
    ["name:worker-[!1-3]", false, false],
    ["name:n.inx", false, false],
    ["user:www-data", true, false],
    ["user:33", true, false],
    ["port:80", true, false],
    ["port:8", false, false],
    ["command:--jobs worker", false, true],
    ["nginx:", true, false],
  ])("%s", (expression, nginx, worker) => {
    expect(expressionHolds(NGINX, expression)).toBe(nginx);
    expect(expressionHolds(WORKER, expression)).toBe(worker);
  });
});

describe("expressionOf", () => {
  it("says what was typed in terms that hold for all that was found", () => {
    expect(expressionOf("worker", [NGINX, WORKER])).toBe("worker");
    expect(expressionOf("nginx :80", [NGINX])).toBe("nginx port:80");
    expect(expressionOf("www-data", [NGINX])).toBe("user:www-data");
    expect(expressionOf("r-3", [WORKER])).toBe("name:*r-3*");
    expect(expressionOf("nginx:", [NGINX])).toBe("command:nginx:");
    expect(expressionOf("name:work* user:root", [WORKER])).toBe("name:work* user:root");
  });

  it("is nothing where no expression says the same", () => {
    expect(expressionOf("", [NGINX])).toBeNull();
    expect(expressionOf("7", [NGINX])).toBeNull();
    expect(expressionOf("worker", [])).toBeNull();
    expect(expressionOf("a ".repeat(17), [WORKER])).toBeNull();
  });
});
