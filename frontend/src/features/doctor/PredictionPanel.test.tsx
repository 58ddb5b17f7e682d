import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { TestPage } from "../../testing/TestPage";
import type { PredictionModel, PredictionService } from "../../wire/generated/models";
// Loads on demand: it is to be there at once.
import "./DoctorPage";

const MODEL: PredictionModel = {
  name: "pss-8-31.server",
  owner: 1000,
  sharing: "read",
  threshold: 8,
  limit: 31,
  updates: 50,
  hits: 30,
  undecided: 10,
  resets: 0,
  used_weights: 164,
  users: 2,
  shown_users: [{ pid: 4200, uid: 1000, updates: 7 }],
  administered: true,
};

async function open(service: PredictionService): Promise<TestPage> {
  const backend = new FakeBackend();
  const about = { host: "bench", kernel: "6.12.0", checked_unix_ms: Date.now() } as const;
  backend.on("GET /doctor", () => ({ ...about, status: "ok", checks: [] }));
  backend.on("GET /predictions", () => service);
  return TestPage.open("/doctor", { backend });
}

it("shows models, users, hit rate and weights in use", async () => {
  const page = await open({ reason: null, models: [MODEL, { ...MODEL, name: "new", updates: 0 }] });
  const cells = [...page.one('[data-model="1000/pss-8-31.server"]').children];
  expect(cells.slice(0, 7).map((cell) => cell.textContent)).toEqual([
    ...["pss-8-31.server", "1000", "read", "2", "50", "75.0 %", "1.0 %"],
  ]);
  expect(cells[3]?.getAttribute("title")).toBe("process 4200 of user 1000: 7 updates\nand 1 more");
});

it("says that there is no service, and how to start one", async () => {
  await open({ reason: "no prediction service at /run/x", models: [] });
  const panel = screen.getByRole("region", { name: "Predictions" });
  expect(panel.textContent).toContain("no prediction service at /run/x");
  expect(panel.textContent).toContain("tidscope predictd");
});

it("resets a model on the second press", async () => {
  const page = await open({ reason: null, models: [MODEL] });
  page.backend.on("POST /predictions/1000/pss-8-31.server/reset", () => ({
    reason: null,
    models: [],
  }));
  await page.click(screen.getByRole("button", { name: "Reset" }));
  expect(page.backend.requests("POST /predictions/1000/pss-8-31.server/reset")).toHaveLength(0);
  page.backend.on("GET /predictions", () => ({ reason: null, models: [] }));
  await page.click(screen.getByRole("button", { name: "Forget everything" }));
  expect(page.backend.requests("POST /predictions/1000/pss-8-31.server/reset")).toHaveLength(1);
  expect(screen.queryByRole("button", { name: "Reset" })).toBeNull();
});

it("shows why a reset was refused", async () => {
  const page = await open({ reason: null, models: [MODEL] });
  page.backend.on("POST /predictions/1000/pss-8-31.server/reset", () =>
    refuse(problem("prediction-refused", { status: 409, detail: "not permitted" })),
  );
  await page.click(screen.getByRole("button", { name: "Reset" }));
  await page.click(screen.getByRole("button", { name: "Forget everything" }));
  const panel = screen.getByRole("region", { name: "Predictions" });
  expect(within(panel).getByRole("alert").textContent).toContain("not permitted");
});

it("locks models of other users than the backend's", async () => {
  await open({ reason: null, models: [{ ...MODEL, administered: false }] });
  expect(screen.getByRole("button", { name: "Reset" }).hasAttribute("disabled")).toBe(true);
});

it("shows the weights of a model", async () => {
  const page = await open({ reason: null, models: [MODEL] });
  const weights = new Array<number>(16384).fill(0);
  weights[5] = -3;
  weights[2000] = 12;
  page.backend.on("GET /predictions/1000/pss-8-31.server", () => ({ weights }));
  await page.click(screen.getByRole("button", { name: "Weights" }));
  const dialog = screen.getByRole("dialog", { name: "Weights of pss-8-31.server" });
  expect(dialog.textContent).toContain("2 are not 0, from -3 to 12.");
});
