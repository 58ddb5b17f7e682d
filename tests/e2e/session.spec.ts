/** Sessions: signing in and out, what another program on this host can do, and a crash. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures/test";

const KEY = "tidscope.session";

/** A web server on another port of this host, which keeps the requests it receives. */
class Neighbour {
  /** Request line, headers and body of each request, as one text. */
  readonly received: string[] = [];

  private constructor(private readonly server: Server) {}

  /** @param cookies Cookies that each response sets. */
  static async start(cookies: readonly string[] = []): Promise<Neighbour> {
    const server = createServer();
    const neighbour = new Neighbour(server);
    server.on("request", (request, response) => {
      const parts = [`${request.method} ${request.url}`, JSON.stringify(request.rawHeaders)];
      request.on("data", (data) => parts.push(String(data)));
      request.on("end", () => {
        neighbour.received.push(parts.join("\n"));
        response.writeHead(200, { "content-type": "text/html", "set-cookie": [...cookies] });
        response.end("<!doctype html><title>neighbour</title>");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return neighbour;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Credential that the page stores for its origin. */
async function credentialOf(page: Page): Promise<string> {
  const kept = await page.evaluate((key) => window.localStorage.getItem(key), KEY);
  return (JSON.parse(kept ?? "null") as { credential: string }).credential;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sessions" }).click();
  const dialog = page.getByRole("dialog", { name: "Sessions" });
  await dialog.getByRole("button", { name: "Sign out", exact: true }).first().click();
}

test("the printed address signs in, and the token leaves the address bar", async ({
  page,
  stack,
}) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(stack.urlWithToken);
  await expect(page).toHaveURL(`${stack.url}/`);
  await expect(page.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await expect(page.locator("[data-connection=open]")).toBeVisible();
  const credential = await credentialOf(page);
  expect(credential).toMatch(/^tds_[\w-]{43}$/);
  // Neither secret is in any address: not in requests, and not in the browser's history.
  await page.goBack();
  await page.goForward();
  expect(page.url()).not.toContain(stack.token);
  expect(asked.join()).not.toMatch(new RegExp(`[?&/]token=|${credential}`));
  expect(await page.context().cookies()).toEqual([]);
});

test("without a session the page asks for the token", async ({ page, stack }) => {
  await page.goto(stack.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect(page.getByText(`${stack.url}/#token=…`)).toBeVisible();

  const field = page.getByLabel("Address or token");
  await field.fill("   ");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("No token found in this text");

  await field.fill("not-the-token-at-all");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("this is not the token of this backend");

  await field.fill(stack.urlWithToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await expect(page.locator("[data-connection=open]")).toBeVisible();
});

test("a token where it is sent to the server is not used, and the page says so", async ({
  page,
  stack,
}) => {
  await page.goto(`${stack.url}/?token=${stack.token}`);
  await expect(page.getByText("The token in this address was not used")).toBeVisible();
  await expect(page).toHaveURL(`${stack.url}/`);
  await page.goto(`${stack.url}/#token=not-the-token-at-all`);
  await expect(page.getByRole("alert")).toContainText("this is not the token of this backend");
});

test("a program on another port of this host gets nothing of the session", async ({
  signedIn: page,
  stack,
}) => {
  const credential = await credentialOf(page);
  const equal = [`tidscope_session=other; Path=/`, `${KEY}=x; Path=/`, "bad\u00e9=;;=", "=x"];
  const neighbour = await Neighbour.start(equal);
  const other = await page.context().newPage();
  await other.goto(neighbour.url);
  // The other page asks the backend with all credentials that the browser would send.
  const read = await other.evaluate(async (url) => {
    const found: string[] = [];
    for (const path of ["/api/v1/health", "/api/v1/session", "/api/v1/runs", "/metrics"]) {
      for (const mode of ["cors", "no-cors"] as const) {
        const init = { mode, credentials: "include" } as const;
        const answer = await fetch(url + path, init).catch(() => null);
        found.push(answer === null ? "blocked" : `${answer.type} ${await answer.text()}`);
      }
    }
    found.push(document.cookie, JSON.stringify({ ...window.localStorage }));
    const opened = await new Promise<string>((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/ws/live`, ["tidscope.v1"]);
      socket.onclose = ({ code }) => resolve(`closed ${code}`);
      socket.onmessage = () => resolve("read");
    });
    return [...found, opened];
  }, stack.url);
  expect(read.slice(0, 8)).toEqual(Array(8).fill("blocked"));
  expect(read.slice(9)).toEqual(["{}", "closed 4403"]);
  // The signed-in tab itself navigates to the other program.
  await page.goto(`${neighbour.url}/from-the-page`);
  const received = neighbour.received.join("\n");
  expect(received).toContain("/from-the-page");
  expect(received).not.toContain(credential);
  expect(received).not.toContain(stack.token);
  // The browser sends the other program's cookies to the backend, which ignores them.
  expect((await page.context().cookies()).map(({ name }) => name)).toContain("tidscope_session");
  await page.goto(stack.url);
  await expect(page.locator("[data-connection=open]")).toBeVisible();
  expect(await credentialOf(page)).toBe(credential);
  await neighbour.stop();
});

test("signing out ends the session in every tab, and for good", async ({
  signedIn: page,
  stack,
}) => {
  const credential = await credentialOf(page);
  const second = await page.context().newPage();
  await second.goto(stack.url);
  await expect(second.locator("[data-connection=open]")).toBeVisible();
  await signOut(page);
  for (const tab of [page, second]) {
    await expect(tab.getByRole("heading", { name: "Sign in" })).toBeVisible();
    await expect(tab.locator("[data-connection=closed]")).toBeVisible();
  }
  await second.reload();
  await expect(second.getByRole("heading", { name: "Sign in" })).toBeVisible();
  // A copy of the credential is revoked, too.
  const headers = { authorization: `Bearer ${credential}` };
  expect((await fetch(`${stack.url}/api/v1/session`, { headers })).status).toBe(401);
});

test("an operator signs a viewer out, whose page closes at once", async ({
  signedIn: page,
  stack,
  browser,
}) => {
  const elsewhere = await browser.newContext();
  const viewer = await elsewhere.newPage();
  await viewer.goto(stack.urlToWatch);
  await expect(viewer.locator("[data-connection=open]")).toBeVisible();
  const headers = { authorization: `Bearer ${await credentialOf(viewer)}` };
  const { id } = (await (await fetch(`${stack.url}/api/v1/session`, { headers })).json()) as {
    id: string;
  };
  await page.getByRole("button", { name: "Sessions" }).click();
  const row = page.locator(`[data-session="${id}"]`);
  await expect(row).toContainText("viewer · signed in");
  await row.getByRole("button").click();
  await expect(row).toHaveCount(0);
  await expect(viewer.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await elsewhere.close();
});

test("a session outlives a crash of the backend", async ({ signedIn: page, stack }) => {
  const credential = await credentialOf(page);
  await stack.killBackend();
  await expect(page.locator("[data-connection=waiting]")).toBeVisible();
  await stack.startBackend();
  await expect(page.locator("[data-connection=open]")).toBeVisible();
  expect(await credentialOf(page)).toBe(credential);
});
