import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { POLICY, STEERING } from "../../testing/steering";
import { TestPage } from "../../testing/TestPage";
import type { Steering, SteerRequest } from "../../wire/generated/models";

const PATH = `/targets/${TARGET.id}/steering` as const;
const policies = ["cooperative", "fixed", "linear", "pss", "ait", "kalman-kg"].map((name) => ({
  ...POLICY,
  name,
  parameters: [],
}));

function backendOf(role: "operator" | "viewer", steering: Steering | null): FakeBackend {
  const backend = new FakeBackend();
  const set = (next: Steering | null) => {
    const target = { ...TARGET, steering: next };
    backend.change({ targets: [target] });
    return target;
  };
  backend.role = role;
  backend.begin({ targets: [{ ...TARGET, steering }] });
  backend.on("GET /policies", () => ({ policies }));
  backend.on(`PUT ${PATH}`, ({ body }) =>
    set({ ...STEERING, policy: (body as SteerRequest).policy }),
  );
  backend.on(`DELETE ${PATH}`, () => set(null));
  backend.on(`POST ${PATH}/restart`, () => set(STEERING));
  return backend;
}

async function open(backend: FakeBackend) {
  const page = await TestPage.watching(2, { backend });
  await page.pass(500);
  return { page, panel: within(screen.getByRole("region", { name: /timeline$/ })) };
}

it("switches the policy, undoes that, restarts and releases, each by one press", async () => {
  const backend = backendOf("operator", { ...STEERING, policy: "pss" });
  const { page, panel } = await open(backend);
  const buttons = () => within(panel.getByRole("group", { name: "Policy" })).getAllByRole("button");
  expect(buttons().map((each) => each.textContent)).toEqual([
    ...["cooperative", "fixed", "linear", "pss", "ait"],
  ]);
  await page.click(panel.getByRole("button", { name: "linear" }));
  expect(backend.requests(`PUT ${PATH}`).at(-1)?.body).toMatchObject({ policy: "linear" });
  expect(panel.getByRole("button", { name: "linear" }).getAttribute("aria-pressed")).toBe("true");
  await page.click(panel.getByRole("button", { name: "Back to pss" }));
  expect(panel.getByRole("button", { name: "pss" }).getAttribute("aria-pressed")).toBe("true");
  await page.click(panel.getByRole("button", { name: "Restart search" }));
  expect(backend.requests(`POST ${PATH}/restart`)).toHaveLength(1);
  await page.click(panel.getByRole("button", { name: "Release" }));
  expect(backend.requests(`DELETE ${PATH}`)).toHaveLength(1);
});

it("has the current policy among the few, and says why a press was refused", async () => {
  const backend = backendOf("operator", { ...STEERING, policy: "kalman-kg" });
  const { page, panel } = await open(backend);
  expect(panel.getByRole("button", { name: "kalman-kg" }).getAttribute("aria-pressed")).toBe(
    "true",
  );
  backend.on(`PUT ${PATH}`, () => refuse(problem("not-steerable", { title: "Cannot steer" })));
  await page.click(panel.getByRole("button", { name: "fixed" }));
  panel.getByText("Cannot steer");
  // The drawer has all policies, with reasons.
  await page.click(panel.getByRole("button", { name: "All policies…" }));
  screen.getByRole("dialog", { name: "Steer" });
});

it("gives viewers nothing to press but the way to the drawer", async () => {
  const { panel } = await open(backendOf("viewer", { ...STEERING, policy: "linear" }));
  expect(panel.queryByRole("group", { name: "Policy" })).toBeNull();
  expect(panel.queryByRole("button", { name: "Release" })).toBeNull();
  panel.getByRole("button", { name: "Policy: linear" });
});
