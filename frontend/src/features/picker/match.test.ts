import { describe, expect, it } from "vitest";
import { process } from "../../testing/backend";
import { expressionHolds, expressionOf } from "./match";

const NGINX = process({
  ...{ pid: 7, name: "nginx", command: "nginx: worker process", user: "www-data" },
  ...{ uid: 33, ports: [80] },
});
const WORKER = process({ pid: 8, name: "worker-3", command: "worker --jobs 3", user: "root" });

describe("expressionHolds", () => {
  it.each([
    ["worker", true, true],
    ["WORKER", true, true],
    ["name:nginx", true, false],
    ["name:work*", false, true],
    ["name:worker-?", false, true],
    ["name:worker-[1-3]", false, true],
    ["name:worker-[!1-3]", false, false],
    ["name:n.inx", false, false],
    ["user:www-data", true, false],
    ["user:33", true, false],
    ["port:80", true, false],
    ["port:8", false, false],
    ["command:--jobs worker", false, true],
    ["nginx:", true, false],
  ])("%s", (expression, nginx, worker) => {
    expect(expressionHolds(NGINX, expression)).toBe(nginx);
    expect(expressionHolds(WORKER, expression)).toBe(worker);
  });
});

describe("expressionOf", () => {
  it("says what was typed in terms that hold for all that was found", () => {
    expect(expressionOf("worker", [NGINX, WORKER])).toBe("worker");
    expect(expressionOf("nginx :80", [NGINX])).toBe("nginx port:80");
    expect(expressionOf("www-data", [NGINX])).toBe("user:www-data");
    expect(expressionOf("r-3", [WORKER])).toBe("name:*r-3*");
    expect(expressionOf("nginx:", [NGINX])).toBe("command:nginx:");
    expect(expressionOf("name:work* user:root", [WORKER])).toBe("name:work* user:root");
  });

  it("is nothing where no expression says the same", () => {
    expect(expressionOf("", [NGINX])).toBeNull();
    expect(expressionOf("7", [NGINX])).toBeNull();
    expect(expressionOf("worker", [])).toBeNull();
    expect(expressionOf("a ".repeat(17), [WORKER])).toBeNull();
  });
});
