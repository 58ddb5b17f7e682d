import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ExperimentChild, StartableExperiment } from "../../wire/generated/models";
import { childText, StartExperiment } from "./StartExperiment";

const FILE: StartableExperiment = {
  name: "mine",
  title: "A title",
  lengths: [
    { preset: "full", least_s: 7200 },
    { preset: "quick", least_s: null },
  ],
  problem: "",
};
const CHILD: ExperimentChild = {
  name: "mine",
  preset: "quick",
  exit_code: null,
  started_unix_us: 0,
  messages: ["size=1: 100 a second; 1 to 1 left"],
};

// Bodies of answers are streams, which do not wait for fake timers.
beforeEach(() => {
  vi.useRealTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Press a button, and wait for what follows. */
async function press(name: string, check: () => void): Promise<void> {
  fireEvent.click(screen.getByRole("button", { name }));
  await act(() => vi.waitFor(check));
}

it("says how an experiment ended", () => {
  expect(childText(CHILD)).toBe("mine, quick, is running.");
  expect(childText({ ...CHILD, preset: "full", exit_code: 0 })).toBe("mine is done.");
  expect(childText({ ...CHILD, exit_code: 1 })).toBe("mine, quick, failed (exit code 1).");
  expect(childText({ ...CHILD, exit_code: 130 })).toContain("was ended");
});

it("starts a file by its name and length, and nothing else", async () => {
  const sent: [string | undefined, string][] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push([init.method, String(init.body)]);
    const headers = { "content-type": "application/json" };
    return Promise.resolve(new Response(JSON.stringify(CHILD), { status: 201, headers }));
  });
  const changed = vi.fn();
  render(<StartExperiment files={[FILE]} child={null} onChange={changed} />);
  fireEvent.change(screen.getByLabelText("Length"), { target: { value: "full" } });
  await press("Start", () => expect(changed).toHaveBeenCalledOnce());
  expect(sent).toEqual([["POST", JSON.stringify({ name: "mine", preset: "full" })]]);
});

it("shows what runs, and ends it", async () => {
  const sent: (string | undefined)[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push(init.method);
    return Promise.resolve(new Response(null, { status: 204 }));
  });
  const wrong = { ...FILE, name: "wrong", lengths: [], problem: "title: is missing" };
  render(<StartExperiment files={[FILE, wrong]} child={CHILD} onChange={() => undefined} />);
  expect(screen.getByText("mine, quick, is running.")).toBeTruthy();
  expect(screen.getByText("size=1: 100 a second; 1 to 1 left")).toBeTruthy();
  expect(screen.getByText(/wrong cannot be started: title/)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Start" }).disabled).toBe(true);
  await press("End", () => expect(sent).toEqual(["DELETE"]));
});
