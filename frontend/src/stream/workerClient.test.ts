import { describe, expect, it } from "vitest";
import { TARGET } from "../testing/frames";
import { DEFAULT_TABLE } from "./viewRequest";
import { clientOf, type WorkerLike } from "./workerClient";
import type { FromWorker, ToWorker } from "./workerProtocol";

function setUp() {
  const posted: ToWorker[] = [];
  const worker: WorkerLike = {
    onmessage: null,
    postMessage: (message) => posted.push(message),
    terminate: () => undefined,
  };
  const client = clientOf(worker, "ws://here/ws/live", null);
  const tell = (data: FromWorker): void => worker.onmessage?.(new MessageEvent("m", { data }));
  /** Requests are batched until the end of the turn. */
  const turn = (): Promise<void> => Promise.resolve();
  const requests = () => posted.filter((message) => message.type === "request");
  return { client, posted, tell, turn, requests };
}

describe("clientOf", () => {
  it("connects at once", () => {
    expect(setUp().posted).toEqual([
      { type: "open", url: "ws://here/ws/live", probe: false, credential: null },
    ]);
  });

  it("makes one message of what is asked in one turn, and none of what is in effect already", async () => {
    const { client, turn, requests } = setUp();
    client.request({ top_k: 3 });
    client.request({ table: DEFAULT_TABLE });
    const unmount = client.mountChart("cpu", 300, true);
    client.mountChart("cpu", 400, false);
    await turn();
    expect(requests()).toHaveLength(1);
    expect(requests()[0]).toMatchObject({
      request: { top_k: 3, table: DEFAULT_TABLE },
      charts: [{ chart: "cpu", width_px: 400, in_view: true }],
    });
    client.request({ top_k: 3, table: { ...DEFAULT_TABLE } });
    await turn();
    expect(requests()).toHaveLength(1);
    unmount();
    await turn();
    expect(requests()).toHaveLength(2);
  });

  it("selects once, and not again", () => {
    const { client } = setUp();
    client.select("1@0");
    expect(client.view.get().selected).toBe("1@0");
    client.select("1@0");
    expect(client.view.get().selected).toBeNull();
    client.togglePin("2@0");
    client.togglePin("3@0");
    client.togglePin("2@0");
    expect(client.view.get().pinned).toEqual(["3@0"]);
  });

  it("forgets one target's views and choices with the next", () => {
    const { client, tell } = setUp();
    client.follow(TARGET.id);
    client.select("1@0");
    client.setPaused(true);
    client.request({ window: { kind: "fixed", t0_s: 1, t1_s: 2 } });
    tell({ type: "views", id: TARGET.id, events: { events: [], of_window: false, total: 3 } });
    expect(client.events.get()?.total).toBe(3);
    client.follow("t-2-00000000");
    expect(client.events.get()).toBeNull();
    expect(client.view.get()).toMatchObject({
      selected: null,
      paused: false,
      window: { kind: "last", seconds: 60 },
    });
  });

  it("leaves out views that come late, of the target before", () => {
    const { client, tell } = setUp();
    client.follow("t-2-00000000");
    tell({ type: "views", id: TARGET.id, events: { events: [], of_window: false, total: 3 } });
    expect(client.events.get()).toBeNull();
  });

  it("tells of the connection", () => {
    const { client, tell } = setUp();
    tell({ type: "connection", connection: { state: "denied", code: 4401, reason: "no session" } });
    expect(client.connection.get().state).toBe("denied");
  });
});
