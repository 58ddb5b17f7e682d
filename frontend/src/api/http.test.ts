import { afterEach, describe, expect, it, vi } from "vitest";
import { keepSession, session } from "../base/session";
import { TARGET } from "../testing/frames";
import { isProcessesResponse, isTarget } from "../wire/generated/validators";
import { command, ProblemError, request } from "./http";

function answer(body: unknown, status = 200): void {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(body, { status })));
}

const problemOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => (error instanceof ProblemError ? error.problem : error),
  );

afterEach(() => {
  vi.unstubAllGlobals();
  keepSession(null);
});

describe("request", () => {
  it("gives an answer that fits its schema", async () => {
    answer(TARGET);
    expect(await request("GET", "/targets/t", isTarget)).toEqual(TARGET);
  });

  it("refuses an answer that does not, and names request and member", async () => {
    answer({ ...TARGET, rate_hz: "ten" });
    expect(await problemOf(request("PATCH", "/targets/t", isTarget))).toMatchObject({
      title: "Unexpected answer from the backend",
      detail: 'PATCH /targets/t: /rate_hz is "ten"',
    });
    answer({ host: "h-0", processes: [{}] });
    expect(await problemOf(request("GET", "/processes", isProcessesResponse))).toMatchObject({
      detail: expect.stringMatching(/^GET \/processes: \/processes\/0\/\w+ is missing$/),
    });
  });

  it("refuses an answer that is no JSON", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("<html>")));
    expect(await problemOf(request("GET", "/targets/t", isTarget))).toMatchObject({
      detail: "GET /targets/t: it is undefined",
    });
  });

  it("accepts members that a newer backend adds", async () => {
    answer({ ...TARGET, mood: "fine" });
    expect(await request("GET", "/targets/t", isTarget)).toMatchObject({ id: TARGET.id });
  });

  it("passes on what the backend refused", async () => {
    const problem = { type: "urn:tidscope:problem:unknown-target", title: "No such target" };
    answer({ ...problem, status: 404, detail: "t is not attached", hint: "" }, 404);
    expect(await problemOf(command("DELETE", "/targets/t"))).toMatchObject(problem);
  });

  it("notes that the session is over", async () => {
    keepSession({ credential: "tds_1", role: "operator" });
    answer({}, 401);
    await problemOf(command("DELETE", "/targets/t", { credential: "tds_0" }));
    expect(session.get()?.credential).toBe("tds_1");
    await problemOf(command("DELETE", "/targets/t"));
    expect(session.get()).toBeNull();
  });
});
