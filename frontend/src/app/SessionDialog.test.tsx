import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { keepSession, session } from "../base/session";
import { FakeBackend } from "../testing/backend";
import { TestPage } from "../testing/TestPage";
import { CloseCode } from "../wire/generated/closeCode";
import { programName } from "./SessionDialog";

const INFO = {
  id: "1f",
  role: "operator",
  label: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  address: "127.0.0.1",
  opened_unix_us: 1e15,
  used_unix_us: 1e15,
  expires_unix_us: 2e15,
  own: true,
} as const;

async function open(page: TestPage) {
  await page.click(screen.getByRole("button", { name: "Sessions" }));
  return within(screen.getByRole("dialog", { name: "Sessions" }));
}

it("lists the other sessions for operators, and ends them", async () => {
  const backend = new FakeBackend();
  let sessions = [INFO, { ...INFO, id: "2f", role: "viewer", address: "192.0.2.1", own: false }];
  backend.on("GET /sessions", () => ({ sessions }));
  backend.on("DELETE /sessions/2f", () => {
    sessions = [INFO];
    return null;
  });
  const page = await TestPage.open("/", { backend });
  const dialog = await open(page);
  dialog.getByText("Operator: may attach, record and steer.", { exact: false });
  const name = "Sign out Firefox 140 on Linux at 192.0.2.1";
  await page.click(dialog.getByRole("button", { name }));
  dialog.getByText("Other sessions: 0");
  expect(session.get()).not.toBeNull();
});

it("signs out: the session ends on the backend and everywhere on the page", async () => {
  const backend = new FakeBackend();
  backend.role = "viewer";
  backend.on("DELETE /session", () => null);
  const page = await TestPage.open("/", { backend });
  const dialog = await open(page);
  expect(dialog.queryByText(/Other sessions/)).toBeNull();
  await page.click(dialog.getByRole("button", { name: "Sign out" }));
  expect(backend.requests("DELETE /session")).toHaveLength(1);
  screen.getByRole("heading", { name: "Sign in" });
  expect(screen.queryByRole("button", { name: "Sessions" })).toBeNull();
  expect(page.client.connection.get()).toEqual({ state: "closed" });
  expect(page.client.live.get()).toBeNull();
});

it("goes on with the session that another tab has opened instead", async () => {
  const page = await TestPage.open("/");
  const next = { credential: "tds_next", role: "viewer" };
  // The other tab writes its storage before this one is notified.
  window.localStorage.setItem("tidscope.session", JSON.stringify(next));
  page.backend.cut(CloseCode.unauthenticated, "it was signed out");
  await page.settle();
  expect(session.get()).toEqual(next);
  expect(screen.queryByRole("heading", { name: "Sign in" })).toBeNull();
  expect(page.client.connection.get().state).toBe("open");
});

it("asks to sign in when the backend ends the session", async () => {
  const page = await TestPage.open("/");
  page.backend.cut(CloseCode.unauthenticated, "it was signed out");
  await page.pass(50);
  screen.getByRole("heading", { name: "Sign in" });
  expect(session.get()).toBeNull();
  keepSession({ credential: "tds_next", role: "operator" });
  await page.settle();
  expect(screen.queryByRole("heading", { name: "Sign in" })).toBeNull();
  expect(page.client.connection.get().state).toBe("open");
});

it.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Firefox 140 on Linux",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge 142 on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Safari 26 on Mac OS X",
  ],
  ["tidscope steer", "tidscope steer"],
  ["", "Unknown program"],
  ["x".repeat(60), `${"x".repeat(39)}…`],
])("%s", (label, name) => {
  expect(programName(label)).toBe(name);
});
