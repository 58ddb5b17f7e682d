import base from "./playwright.config";

/** Not tests: `record` makes the runs that `pictures` shows, see the files in pictures/. */
export default {
  ...base,
  testDir: "pictures",
  outputDir: "../../test-output/pictures",
  workers: 1,
  projects: [
    { name: "record", testMatch: "record.spec.ts" },
    { name: "pictures", testMatch: "pictures.spec.ts" },
  ],
};
