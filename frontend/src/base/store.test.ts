import { describe, expect, it } from "vitest";
import { createStore } from "./store";

describe("createStore", () => {
  it("tells of changes, and only of changes", () => {
    const store = createStore(1);
    let reported = 0;
    const end = store.subscribe(() => reported++);
    store.set(1);
    store.set(2);
    end();
    store.set(3);
    expect([reported, store.get()]).toEqual([1, 3]);
  });
});
