// Debian's chromium, as benchmarks open it.
import { chromium } from "playwright-core";

/** A browser, with more arguments if given. */
export async function openBrowser(more = []) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
}

/** A page of 1440 × 900 in a browser of its own; `close` ends both. */
export async function openPage() {
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  return { page, close: () => browser.close() };
}
