/** A recorded run in a page of files, from a server that knows nothing of tidscope. */

import { execFileSync } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { expect, test } from "@playwright/test";
import { OUTPUT, ROOT } from "./fixtures/processes";
import { DEMO_RUN } from "./fixtures/runs";

const FOLDER = join(OUTPUT, "recorded");
/** The page is not at the top of its server. */
const BELOW = "/some/folder/";
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
  svg: "image/svg+xml",
};

/** Serve the files of a folder. */
async function serveFiles(folder: string): Promise<Server> {
  const server = createServer(({ url = "/" }, answer) => {
    const { pathname } = new URL(url, "http://host");
    const path = pathname.startsWith(BELOW) ? pathname.slice(BELOW.length) : null;
    const file = join(folder, normalize(`/${path === "" ? "index.html" : path}`));
    if (path === null || !existsSync(file)) {
      answer.writeHead(404).end();
      return;
    }
    const type = TYPES[file.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    answer.writeHead(200, { "content-type": type });
    createReadStream(file).pipe(answer);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

test("a recorded run opens from plain files", async ({ page }) => {
  const python = join(ROOT, ".venv/bin/python");
  const script = join(ROOT, "tools/build_demo.py");
  execFileSync(python, [script, FOLDER, "--run", DEMO_RUN, "--home", "https://project.invalid/"]);
  const server = await serveFiles(FOLDER);
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("response", (answer) => {
    if (!answer.ok()) troubles.push(`${answer.status()} ${answer.url()}`);
  });
  try {
    const { port } = server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}${BELOW}`);
    await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
    await expect(page.locator("[data-raw]")).toHaveAttribute("data-raw", "true");
    await expect(page.getByRole("region", { name: "Findings" })).toContainText(
      /threads waited .* for one lock/,
    );
    await expect(page.locator("[data-chart]").first()).toHaveAttribute("data-state", "ok");
    await page.getByRole("link", { name: "CPU", exact: true }).click();
    await expect(page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
    // A shorter window is cut from the same file.
    await page.keyboard.press("+");
    await expect(page.getByRole("button", { name: "Whole run" })).toBeEnabled();
    await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
    const outside = await page
      .locator('a[href^="/"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    expect(outside.filter((href) => !href.startsWith(BELOW))).toEqual([]);
    await page.reload();
    await expect(page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
    expect(troubles).toEqual([]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
