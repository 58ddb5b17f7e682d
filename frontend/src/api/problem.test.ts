import { describe, expect, it } from "vitest";
import { asProblem, isKind, ProblemError, problemOf } from "./http";

const KERNEL_THREAD = {
  type: "urn:tidscope:problem:kernel-thread",
  title: "Kernel thread",
  status: 422,
  detail: "pid 2 is a kernel thread",
  hint: "Pick a user process.",
};

describe("problemOf", () => {
  it("takes a problem document as it is", async () => {
    const response = new Response(JSON.stringify(KERNEL_THREAD), { status: 422 });
    expect(await problemOf(response)).toEqual(KERNEL_THREAD);
  });

  it("makes one of an answer that is not a problem document", async () => {
    const response = new Response("<html>Bad Gateway</html>", {
      status: 502,
      statusText: "Bad Gateway",
    });
    const problem = await problemOf(response);
    expect(problem.status).toBe(502);
    expect(problem.title).toBe("Bad Gateway");
    expect(problem.detail).toContain("502");
  });

  it("does not trust the types of members", async () => {
    const response = new Response(JSON.stringify({ type: 7, detail: null }), { status: 500 });
    expect((await problemOf(response)).type).toBe("about:blank");
  });
});

describe("isKind", () => {
  it("knows the kind behind the prefix", () => {
    expect(isKind(KERNEL_THREAD, "kernel-thread")).toBe(true);
    expect(isKind(KERNEL_THREAD, "not-permitted")).toBe(false);
    expect(isKind(null, "kernel-thread")).toBe(false);
  });
});

describe("asProblem", () => {
  it("unwraps what a request threw and wraps everything else", () => {
    expect(asProblem(new ProblemError(KERNEL_THREAD))).toBe(KERNEL_THREAD);
    expect(asProblem(new TypeError("x is undefined")).detail).toBe("x is undefined");
  });
});
