import { expect, it } from "vitest";
import { networkDetail, networkName } from "./networkSource";

it("names the source", () => {
  expect(networkName("ebpf: counted since attachment; socket payload, not wire bytes")).toBe(
    "eBPF",
  );
  expect(networkName("taskstats extended: counted by the kernel")).toBe("taskstats extended");
  expect(networkName("none: switched off (--network none)")).toBe("none");
});

it("gives the rest as a sentence", () => {
  expect(networkDetail("none: switched off (--network none)")).toBe(
    "Switched off (--network none).",
  );
  expect(networkDetail("ebpf: counted since attachment: 1.")).toBe("Counted since attachment: 1.");
});
