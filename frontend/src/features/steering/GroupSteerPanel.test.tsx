/** The Steer drawer of a group: one policy for the checked programs. */

import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { DIVISION, OPTIONS, POLICY, STEERING } from "../../testing/steering";
import { TestPage } from "../../testing/TestPage";
import type {
  Group,
  ProgramOptions,
  SteeringOptions,
  SteerRequest,
  Target,
} from "../../wire/generated/models";

const PATH = `/targets/${TARGET.id}/steering` as const;
const GROUP: Group = {
  kind: "tree",
  value: null,
  name: "make and its children",
  cgroup: null,
  discovery: "ebpf",
  discovery_reason: "",
};
const program = (pid: number, name: string, refusal = ""): ProgramOptions => ({
  pid,
  start_ticks: 7,
  name,
  refusal,
  knobs: refusal === "" ? OPTIONS.knobs : [],
  signals: refusal === "" ? OPTIONS.signals : [],
  steering: null,
});
const noAgent = (pid: number) => `Process ${pid} has no agent.`;
const PROGRAMS = [
  program(11, "api"),
  program(12, "worker"),
  program(13, "pool"),
  ...[21, 22, 23].map((pid) => program(pid, "postgres", noAgent(pid))),
];
const ARBITER = { ...POLICY, name: "arbiter" };
const COOPERATIVE = { ...POLICY, name: "cooperative" };

/** A backend that steers the requested programs. */
function groupBackend(role: "operator" | "viewer" = "operator") {
  const backend = new FakeBackend();
  backend.role = role;
  let target: Target = { ...TARGET, group: GROUP };
  const set = (changes: Partial<Target>) => {
    target = { ...target, ...changes };
    backend.change({ targets: [target] });
    return target;
  };
  const options: SteeringOptions = {
    knobs: [],
    signals: [],
    steering: null,
    programs: PROGRAMS,
    unexamined: 4,
  };
  backend.begin({ targets: [target] });
  backend.on("GET /policies", () => ({ policies: [POLICY, COOPERATIVE, ARBITER] }));
  backend.on(`GET ${PATH}`, () => options);
  backend.on(`PUT ${PATH}`, ({ body }) => {
    const { policy, programs, join } = body as SteerRequest;
    const steered = (programs ?? []).map(({ pid, lower, upper, share, floor }) => ({
      pid,
      start_ticks: 7,
      name: PROGRAMS.find((one) => one.pid === pid)?.name ?? "",
      steering: {
        ...STEERING,
        policy,
        lower: lower ?? STEERING.lower,
        upper: upper ?? STEERING.upper,
        division:
          policy === "arbiter"
            ? { ...DIVISION, share: share ?? 1, floor: floor ?? 0, cores: pid - 9 }
            : null,
      },
    }));
    return set({ programs: steered, programs_join: join ?? false });
  });
  backend.on(`DELETE ${PATH}`, ({ path }) => {
    const left = (target.programs ?? []).filter(({ pid }) => path === `${PATH}?pid=${pid}`);
    if (left.length === 0) return set({ programs: null, programs_join: false });
    return set({ programs: (target.programs ?? []).filter((one) => !left.includes(one)) });
  });
  return backend;
}

async function open(backend: FakeBackend) {
  const page = await TestPage.watching(1, { backend });
  await page.press("s");
  await page.pass(100);
  const drawer = within(screen.getByRole("dialog", { name: "Steer" }));
  const asked = () => backend.requests(`PUT ${PATH}`).at(-1)?.body as SteerRequest | undefined;
  const box = (name: string) => drawer.getByRole<HTMLInputElement>("checkbox", { name });
  const button = (name: string | RegExp) => drawer.getByRole<HTMLButtonElement>("button", { name });
  return { page, drawer, asked, box, button };
}

it("steers all programs that can be by one press, under cooperative", async () => {
  const { page, drawer, asked, button } = await open(groupBackend());
  await page.click(button("Steer 3 programs"));
  expect(asked()).toMatchObject({ policy: "cooperative", join: false });
  expect(asked()?.programs?.map(({ pid }) => pid)).toEqual([11, 12, 13]);
  drawer.getByText("3 programs");
  await page.click(button("Release all"));
  drawer.getByText(/^Not steered\./);
});

it("says of the others why not, those alike in one line", async () => {
  const { drawer } = await open(groupBackend());
  drawer.getByText("3 processes cannot be steered");
  drawer.getByText("postgres ×3");
  drawer.getByText(noAgent(21));
  drawer.getByText(/4 more processes not examined/);
});

it("steers only what is checked, with bounds of its own, and lets new ones join", async () => {
  const { page, asked, box, button, drawer } = await open(groupBackend());
  await page.click(box("worker (12)"));
  await page.click(box("New programs of the group join"));
  const [lower] = drawer.getAllByLabelText("Upper bound");
  if (lower === undefined) throw new Error("no bounds");
  await page.fill(lower, "99");
  expect(button("Steer 2 programs").disabled).toBe(true);
  await page.fill(lower, "4");
  await page.click(button("Steer 2 programs"));
  expect(asked()).toMatchObject({ join: true });
  expect(asked()?.programs).toEqual([
    { pid: 11, lower: null, upper: 4 },
    { pid: 13, lower: null, upper: null },
  ]);
});

it("releases one program, and leaves the others", async () => {
  const backend = groupBackend();
  const { page, button } = await open(backend);
  await page.click(button("Steer 3 programs"));
  await page.click(button("Release worker (12)"));
  expect(backend.requests(`DELETE ${PATH}`).map(({ path }) => path)).toEqual([`${PATH}?pid=12`]);
  // With an unchecked box: the steered programs are those shown as steered.
  expect(button("Steer 2 programs").disabled).toBe(false);
});

it("shows why nothing was changed", async () => {
  const backend = groupBackend();
  const detail = "worker (12): the bounds 1 to 99 are not within those of the knob";
  backend.on(`PUT ${PATH}`, () =>
    refuse(problem("bad-parameter", { status: 422, title: "A parameter is wrong", detail })),
  );
  const { page, drawer, button } = await open(backend);
  await page.click(button("Steer 3 programs"));
  drawer.getByText(/the bounds 1 to 99/);
  drawer.getByText(/^Not steered\./);
});

it("lets viewers see it all and press nothing", async () => {
  const { button, box } = await open(groupBackend("viewer"));
  expect(button("Steer 3 programs").disabled).toBe(true);
  expect(box("api (11)").disabled).toBe(true);
});

it("asks the arbiter for shares and floors, and shows who got what", async () => {
  const { page, drawer, asked, button } = await open(groupBackend());
  expect(drawer.queryByLabelText("Share")).toBeNull();
  await page.select(drawer.getByRole("combobox", { name: "Policy" }), "arbiter");
  const [share] = drawer.getAllByLabelText("Share");
  const [floor] = drawer.getAllByLabelText("Floor");
  if (share === undefined || floor === undefined) throw new Error("no claims");
  await page.fill(floor, "1.5");
  expect(button("Steer 3 programs").disabled).toBe(true);
  await page.fill(floor, "1");
  await page.fill(share, "2.5");
  await page.click(button("Steer 3 programs"));
  expect(asked()?.programs?.[0]).toMatchObject({ pid: 11, share: 2.5, floor: 1, priority: null });
  const cores = within(drawer.getByRole("region", { name: "Cores" }));
  cores.getByText("8 cores among 3 programs");
  expect(cores.getAllByRole("listitem").map(({ dataset: { divided } }) => divided)).toEqual([
    "13",
    "12",
    "11",
  ]);
  cores.getByText("share 2.5, floor 1");
  expect(cores.getAllByText(/One core more is expected to bring 12 %/)).toHaveLength(3);
  // Shown beside the charts as well.
  expect(screen.getAllByText("8 cores among 3 programs")).toHaveLength(2);
});
