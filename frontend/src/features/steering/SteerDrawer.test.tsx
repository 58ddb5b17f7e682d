import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { OPTIONS, POLICY, STEERING } from "../../testing/steering";
import { TestPage } from "../../testing/TestPage";
import type { Steering, SteeringOptions, SteerRequest } from "../../wire/generated/models";

const FIXED = { ...POLICY, name: "fixed", parameters: [] };

/** A backend that steers as requested, within the knob's bounds. */
function steeringBackend(options: SteeringOptions = OPTIONS): FakeBackend {
  const backend = new FakeBackend();
  const path = `/targets/${TARGET.id}/steering` as const;
  const set = (steering: Steering | null) => {
    const target = { ...TARGET, steering };
    backend.change({ targets: [target] });
    return target;
  };
  backend.on("GET /policies", () => ({ policies: [POLICY, FIXED] }));
  backend.on(`GET ${path}`, () => options);
  backend.on(`PUT ${path}`, ({ body }) => {
    const { policy, shadow, lower, upper } = body as SteerRequest;
    const bounds = { lower: lower ?? STEERING.lower, upper: upper ?? STEERING.upper };
    return set({ ...STEERING, ...bounds, policy, shadow: shadow ?? false });
  });
  backend.on(`DELETE ${path}`, () => set(null));
  return backend;
}

/** The page with the drawer open. */
async function open(backend: FakeBackend) {
  const page = await TestPage.watching(1, { backend });
  await page.press("s");
  await page.pass(100);
  const drawer = within(screen.getByRole("dialog", { name: "Steer" }));
  const policy = (name: string) =>
    within(drawer.getByRole("region", { name: "Policy" })).getByRole<HTMLButtonElement>("button", {
      name,
    });
  const pressed = (name: string) => policy(name).getAttribute("aria-pressed");
  const asked = () => backend.requests(`PUT /targets/${TARGET.id}/steering`).at(-1)?.body;
  return { page, drawer, policy, pressed, asked };
}

it("switches policies by one press each, and back", async () => {
  const { page, drawer, policy, pressed, asked } = await open(steeringBackend());
  await page.click(policy("kalman-kg"));
  expect(pressed("kalman-kg")).toBe("true");
  expect(asked()).toMatchObject({ policy: "kalman-kg" });
  await page.click(policy("fixed"));
  expect([pressed("kalman-kg"), pressed("fixed")]).toEqual(["false", "true"]);
  await page.click(drawer.getByRole("button", { name: "Back to kalman-kg" }));
  expect([pressed("kalman-kg"), pressed("fixed")]).toEqual(["true", "false"]);
});

it("measures a size curve, and proves the policy shown, within the time asked for", async () => {
  const { page, drawer, policy, asked } = await open(steeringBackend());
  await page.click(drawer.getByRole("button", { name: "Size curve" }));
  expect(asked()).toMatchObject({ policy: "sweep", parameters: {}, sweep: { most_s: 300 } });
  await page.click(drawer.getByRole("button", { name: /^Release/ }));
  await page.fill(drawer.getByLabelText("Longest time"), "5");
  drawer.getByText(/Between 10 and 86400\./);
  await page.fill(drawer.getByLabelText("Longest time"), "60");
  await page.click(drawer.getByRole("button", { name: "Prove kalman-kg" }));
  expect(asked()).toMatchObject({ policy: "kalman-kg", proof: { most_s: 60 }, shadow: false });
  expect(policy("kalman-kg").getAttribute("aria-pressed")).toBe("true");
});

it("only decides in shadow mode, and the header says so", async () => {
  const { page, drawer, policy, asked } = await open(steeringBackend());
  await page.click(policy("kalman-kg"));
  await page.click(drawer.getByRole("switch", { name: /Shadow mode/ }));
  expect(asked()).toMatchObject({ policy: "kalman-kg", shadow: true });
  const fact = document.querySelector("[data-fact=Policy] dd");
  expect(fact?.textContent).toBe("kalman-kg (shadow)");
});

it("narrows bounds within those of the knob, and widens them again", async () => {
  const { page, drawer, policy, asked } = await open(steeringBackend());
  await page.click(policy("fixed"));
  const largest = drawer.getByLabelText("Upper bound");
  const apply = drawer.getByRole("button", { name: "Apply bounds" });
  await page.fill(largest, "2");
  await page.click(apply);
  expect(asked()).toMatchObject({ policy: "fixed", upper: 2 });
  const before = asked();
  await page.fill(largest, "17");
  drawer.getByText(/Between 1 and 16\./);
  await page.click(apply);
  expect(asked()).toBe(before);
  await page.fill(largest, "3");
  await page.click(apply);
  expect(asked()).toMatchObject({ policy: "fixed", upper: 3 });
});

it("does not send a parameter that is out of bounds", async () => {
  const { page, drawer } = await open(steeringBackend());
  const form = within(drawer.getByRole("form", { name: "Parameters" }));
  const field = form.getByLabelText<HTMLInputElement>("interval_s");
  const send = form.getByRole<HTMLButtonElement>("button", { name: "Steer with kalman-kg" });
  await page.fill(field, "0.1");
  form.getByText(/Between 0\.5 and 60\./);
  expect(send.disabled).toBe(true);
  await page.click(form.getByRole("button", { name: "Reset to defaults" }));
  expect(field.value).toBe("2");
  expect(send.disabled).toBe(false);
});

it("shows everything to those who only watch, and lets them press nothing", async () => {
  const backend = steeringBackend();
  backend.role = "viewer";
  backend.begin({ targets: [{ ...TARGET, steering: STEERING }] });
  const { drawer, policy, pressed } = await open(backend);
  drawer.getByText("Read-only session");
  expect(pressed("kalman-kg")).toBe("true");
  const buttons = [policy("fixed"), drawer.getByRole("button", { name: "Restart search" })];
  buttons.push(drawer.getByRole("button", { name: /^Release/ }));
  expect(buttons.map((button) => (button as HTMLButtonElement).disabled)).toEqual([
    true,
    true,
    true,
  ]);
});

it("says why a program cannot be steered, and what helps", async () => {
  const knobs = OPTIONS.knobs.map((knob) => ({ ...knob, refusal: "No agent listens." }));
  const { drawer, policy } = await open(steeringBackend({ ...OPTIONS, knobs }));
  drawer.getByText(/^Cannot steer this program/);
  expect(drawer.getAllByText("No agent listens.")).toHaveLength(2);
  drawer.getByText(/docs\/steering\.md/);
  expect(policy("kalman-kg").disabled).toBe(true);
});

it("shows why the backend refused", async () => {
  const backend = steeringBackend();
  const detail = "Another client steers this program.";
  backend.on(`PUT /targets/${TARGET.id}/steering`, () =>
    refuse(problem("not-steerable", { status: 409, title: "It cannot be steered", detail })),
  );
  const { page, drawer, policy, pressed } = await open(backend);
  await page.click(policy("kalman-kg"));
  expect(drawer.getByRole("alert").textContent).toContain(detail);
  expect(pressed("kalman-kg")).toBe("false");
});

describe("what the drawer asks", () => {
  const options = `GET /targets/${TARGET.id}/steering` as const;

  it("asks for knobs and signals once, however long it is open", async () => {
    const backend = steeringBackend();
    const { page } = await open(backend);
    expect(backend.requests(options)).toHaveLength(1);
    await page.pass(10_000);
    expect(backend.requests(options)).toHaveLength(1);
  });

  it("asks again when a control loop starts or ends, whoever did that", async () => {
    const backend = steeringBackend();
    const { page } = await open(backend);
    backend.change({ targets: [{ ...TARGET, steering: STEERING }] });
    await page.pass(100);
    expect(backend.requests(options)).toHaveLength(2);
    backend.change({ targets: [{ ...TARGET, steering: { ...STEERING, size: 3, decisions: 9 } }] });
    await page.pass(100);
    expect(backend.requests(options)).toHaveLength(2);
    backend.change({ targets: [TARGET] });
    await page.pass(100);
    expect(backend.requests(options)).toHaveLength(3);
  });

  it("asks again after a refusal: the agent may have gone", async () => {
    const backend = steeringBackend();
    backend.on(`PUT /targets/${TARGET.id}/steering`, () => refuse(problem("not-steerable")));
    const { page, policy } = await open(backend);
    await page.click(policy("kalman-kg"));
    expect(backend.requests(options)).toHaveLength(2);
  });
});

describe("the keyboard", () => {
  it("opens and closes the drawer, and the focus returns", async () => {
    const page = await TestPage.watching(1, { backend: steeringBackend() });
    const button = screen.getByRole("button", { name: "Steer" });
    const drawer = page.one("#steer") as HTMLDialogElement;
    button.focus();
    await page.press("{Enter}");
    expect(drawer.open).toBe(true);
    expect(button.getAttribute("aria-expanded")).toBe("true");
    await page.press("{Tab}");
    expect(document.activeElement).toBe(within(drawer).getByRole("button", { name: "Close" }));
    await page.press("{Escape}");
    expect(drawer.open).toBe(false);
    expect(document.activeElement).toBe(button);
    await page.press("s");
    expect(drawer.open).toBe(true);
  });

  it("keeps the focus in the drawer when the pressed button is gone", async () => {
    const { page, drawer, policy } = await open(steeringBackend());
    await page.click(policy("kalman-kg"));
    drawer.getByRole("button", { name: /^Release/ }).focus();
    await page.press("{Enter}");
    drawer.getByText(/Not steered/);
    expect(document.activeElement).toBe(screen.getByRole("dialog", { name: "Steer" }));
  });
});
