import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import type { FleetHost, RingResponse } from "../../wire/generated/models";
import { PastHost, partKept } from "./PastHost";

const HOST: FleetHost = {
  host: TARGET.host,
  name: "db-17",
  labels: {},
  connected: true,
  targets: [TARGET.id],
  threads: 1,
  states: [1, 0, 0, 0, 0],
  cores: [1],
  roles: [],
};
const TRACK = {
  id: "r-20261129-030000-0000bb",
  target: TARGET,
  host_name: "db-17",
  from_unix_us: 1_000_000_000,
  to_unix_us: 2_000_000_000,
  bytes: 1000,
};
const RING: RingResponse = {
  on: true,
  max_age_s: 3600,
  max_bytes: 512_000_000,
  bytes: 1000,
  lost: 0,
  disk_full: false,
  tracks: [TRACK],
};

function open(since_ms: number, until_ms: number) {
  const onTotals = vi.fn();
  render(<PastHost {...{ host: HOST, since_ms, until_ms, onTotals }} onClose={() => undefined} />);
  return onTotals;
}

test("the kept part of the window is cut on its host", async () => {
  const backend = new FakeBackend();
  backend.on("GET /ring", () => RING);
  backend.on("POST /ring/cuts", () =>
    refuse(problem("bad-run", { status: 422, title: "Unreadable run" })),
  );
  const onTotals = open(900_000, 1_500_000);
  fireEvent.click(await screen.findByRole("button", { name: /^Open threads of/ }));
  // A refusal is shown, and another attempt is possible.
  await screen.findByText("Unreadable run");
  expect(screen.getByRole("button", { name: /^Open threads of/ })).toHaveProperty(
    "disabled",
    false,
  );
  expect(backend.requests("GET /ring")[0]?.path).toBe(`/ring?host=${TARGET.host}`);
  expect(backend.requests("POST /ring/cuts")[0]?.body).toMatchObject({
    track: TRACK.id,
    host: TARGET.host,
    from_unix_us: 1_000_000_000,
    to_unix_us: 1_500_000_000,
  });
  fireEvent.click(screen.getByRole("button", { name: "Totals of this host" }));
  expect(onTotals).toHaveBeenCalledOnce();
});

test("a window without threads, and a host without a ring, say so", async () => {
  const backend = new FakeBackend();
  backend.on("GET /ring", () => RING);
  open(3_000_000, 4_000_000);
  await screen.findByText("Nothing is kept of this window");
  backend.on("GET /ring", () => ({ ...RING, on: false, tracks: [] }));
  open(900_000, 1_500_000);
  await screen.findByText("This host keeps no threads");
});

test("a part is what both have", () => {
  expect(partKept(TRACK, [1_200_000_000, 3_000_000_000])).toEqual([1_200_000_000, 2_000_000_000]);
  expect(partKept(TRACK, [2_000_000_000, 3_000_000_000])).toBeNull();
});
