import base from "./playwright.config";

/**
 * Not tests: `record` makes the runs that `pictures` draws; `screens` draws every page for people. See
 * the files in pictures/.
 */
export default {
  ...base,
  testDir: "pictures",
  outputDir: "../../test-output/pictures",
  workers: 1,
  // A picture takes many screenshots, and a trace would cost more than those.
  timeout: 900_000,
  use: { ...base.use, trace: "off" as const },
  projects: [
    { name: "record", testMatch: "record.spec.ts" },
    { name: "pictures", testMatch: "docs.spec.ts" },
    { name: "screens", testMatch: "screens.spec.ts" },
  ],
};
