import { defineConfig } from "@playwright/test";

/** Path of the browser: Debian's, unless the environment variable CHROMIUM is set. */
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: ".",
  outputDir: "../../test-output/playwright",
  globalSetup: "./fixtures/build.ts",
  // Each worker has a backend and a collector. Four took as long as two.
  workers: 2,
  fullyParallel: true,
  // Long enough for a busy machine, which is several times slower. No test waits longer than it must.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // A test that fails now and then is a defect.
  retries: 0,
  forbidOnly: true,
  reporter: [["list"]],
  projects: [
    { name: "page", testIgnore: ["host.spec.ts", "pictures/**"] },
    // Tests that change or measure the whole machine run one at a time.
    // They begin when all others have ended; --no-deps runs them alone.
    {
      name: "host",
      testMatch: "host.spec.ts",
      fullyParallel: false,
      workers: 1,
      dependencies: ["page"],
    },
  ],
  use: {
    actionTimeout: 60_000,
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    // Both would be taken after each action, and cost a third of the CPU time of all tests.
    trace: { mode: "retain-on-failure", screenshots: false, snapshots: false },
    screenshot: "only-on-failure",
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
