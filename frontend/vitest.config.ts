import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { wireCode } from "./generate/wireCode.mjs";

/** Far more than any test takes: a busy machine must not fail what is right. */
const testTimeout = 240_000;

export default defineConfig({
  plugins: [wireCode()],
  test: {
    // The default leaves one CPU to the terminal: half of them on a small machine.
    maxWorkers: "100%",
    projects: [
      {
        // Without a page nothing is left behind: files share what they import.
        test: {
          name: "pure",
          environment: "node",
          include: ["src/**/*.test.ts"],
          isolate: false,
          testTimeout,
        },
      },
      {
        plugins: [react()],
        // The setup file removes what a test left in the page: files share what they import.
        test: {
          name: "components",
          environment: "happy-dom",
          isolate: false,
          include: ["src/**/*.test.tsx"],
          setupFiles: ["src/testing/dom.ts"],
          testTimeout,
        },
      },
    ],
  },
});
