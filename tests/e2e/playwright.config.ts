import { defineConfig } from "@playwright/test";

/** The browser is Debian's; CHROMIUM names another. */
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: ".",
  outputDir: "../../test-output/playwright",
  // One at a time: the tests watch a busy program, and say which thread is the busiest.
  workers: 1,
  // A machine that does other work too is several times slower; nothing here waits longer than it must.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  // A test that passes only the second time is broken.
  retries: 0,
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    trace: "retain-on-failure",
    launchOptions: {
      executablePath,
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
