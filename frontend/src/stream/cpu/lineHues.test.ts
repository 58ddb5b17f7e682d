import { expect, it } from "vitest";
import { LineOrder } from "./lineHues";

const keyed = (text: string) => [...text].map((key) => ({ key }));

it("changes places every five seconds at most; new lines come last until then", () => {
  const order = new LineOrder();
  const at = (clock_ms: number, ranked: string) =>
    order
      .of(keyed(ranked), clock_ms)
      .map(({ key }) => key)
      .join("");
  expect(at(0, "abc")).toBe("abc");
  expect(at(4000, "bac")).toBe("abc");
  expect(at(4500, "dba")).toBe("abd");
  expect(at(5000, "dba")).toBe("dba");
  expect(at(9000, "abd")).toBe("dba");
  order.release();
  expect(at(9001, "abd")).toBe("abd");
});
