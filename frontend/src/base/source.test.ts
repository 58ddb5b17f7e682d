import { expect, it, vi } from "vitest";

it("asks the backend, and files beside the page instead once they are named", async () => {
  vi.resetModules();
  vi.stubGlobal("document", { baseURI: "https://host/demo/?tab=cpu" });
  const { answerHref, bytesHref, hasBackend, readFilesBelow } = await import("./source");
  expect(hasBackend()).toBe(true);
  expect(answerHref("/runs/r?x=1")).toBe("/api/v1/runs/r?x=1");
  expect(bytesHref("/runs/r/frames")).toBe("/api/v1/runs/r/frames");
  readFilesBelow("data/");
  expect(hasBackend()).toBe(false);
  expect(answerHref("/runs/r?x=1")).toBe("https://host/demo/data/runs/r.json");
  expect(bytesHref("/runs/r/frames")).toBe("https://host/demo/data/runs/r/frames.gzip");
  vi.unstubAllGlobals();
});
