/**
 * Records the checked-in runs from real programs on this machine:
 * `npm run record-pictures`, on an idle machine.
 */

import { execFileSync } from "node:child_process";
import { switched } from "../fixtures/delaySwitch";
import { Steered } from "../fixtures/programs";
import { DEMO_RUN, GALLERY_PROGRAMS, galleryRun, Shown, STEERED_RUN } from "../fixtures/runs";
import type { Stack } from "../fixtures/stack";
import { expect, test } from "../fixtures/test";

const COMMIT = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
const NOTES = `Recorded at commit ${COMMIT} by tests/e2e/pictures/record.spec.ts.`;

interface Run {
  readonly id: string;
  readonly state: string;
}

/** Record a target for some seconds, and export the run. */
async function record(
  stack: Stack,
  request: { readonly target: string; readonly name: string; readonly seconds: number },
  file: string,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { target, name, seconds } = request;
  const body = { target, name, notes: NOTES, duration_s: seconds };
  const { id } = (await stack.send("POST", "/runs", body)) as Run;
  await meanwhile();
  const state = async () => ((await stack.get(`/runs/${id}`)) as Run).state;
  await expect.poll(state, { timeout: 2000 * seconds }).toBe("complete");
  await stack.exportRun(id, file);
}

/** Wait until the backend has received a number of further frames. */
async function frames(stack: Stack, more: number): Promise<void> {
  const before = (await stack.health()).frames;
  const now = async () => (await stack.health()).frames;
  await expect.poll(now, { timeout: 1000 * more }).toBeGreaterThanOrEqual(before + more);
}

test("the demo", async ({ stack }) => {
  await switched(false, async () => {
    // Switched by the collector, which notes the time: all threads of the demo then have delays.
    await stack.send("PUT", "/doctor/delay-accounting", { on: true });
    const { target } = (await stack.send("POST", "/demo", {})) as { target: { id: string } };
    await record(stack, { target: target.id, name: "demo", seconds: 60 }, DEMO_RUN, async () => {
      await frames(stack, 220);
      const body = { policy: "kalman-kg", parameters: { interval_s: 1 } };
      await stack.send("PUT", `/targets/${target.id}/steering`, body);
    });
  });
});

test("a steered program", async ({ stack }) => {
  const program = await Steered.start();
  try {
    const { id } = (await stack.send("POST", "/targets", { pid: program.pid })) as { id: string };
    const path = `/targets/${id}/steering`;
    const steer = (policy: string) =>
      stack.send("PUT", path, { policy, parameters: { interval_s: 1 } });
    await record(stack, { target: id, name: "steered", seconds: 60 }, STEERED_RUN, async () => {
      await frames(stack, 50);
      await steer("bidirectional");
      await frames(stack, 200);
      await steer("kalman-kg");
      await frames(stack, 200);
      await stack.send("POST", `${path}/restart`, {});
    });
  } finally {
    await program.kill();
  }
});

for (const name of GALLERY_PROGRAMS) {
  test(`of the gallery: ${name}`, async ({ stack }) => {
    const program = await Shown.start(name);
    try {
      const { id } = (await stack.send("POST", "/targets", program.request)) as { id: string };
      await record(stack, { target: id, name, seconds: 30 }, galleryRun(name));
    } finally {
      await program.stop();
    }
  });
}
