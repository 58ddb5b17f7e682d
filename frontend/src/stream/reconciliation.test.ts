import { expect, it } from "vitest";
import { deviation, Reconciliation } from "./reconciliation";

it("compares growth, since what ended before is in the process alone", () => {
  const book = new Reconciliation();
  expect(book.check).toBeNull();
  book.note(100e9, 10e9);
  expect(book.check).toBeNull();
  book.note(102e9, 11.9e9);
  expect(book.check).toEqual({ process_s: 2, threads_s: expect.closeTo(1.9, 9) });
  const { check } = book;
  expect(check && deviation(check)).toBeCloseTo(-0.05, 9);
});

it("leaves out frames that do not tell both", () => {
  const book = new Reconciliation();
  book.note(null, 1e9);
  book.note(1e9, Number.NaN);
  book.note(1e9, 1e9);
  book.note(null, 9e9);
  expect(book.check).toBeNull();
});

it("says nothing of a process that has used next to nothing", () => {
  expect(deviation({ process_s: 0.001, threads_s: 0.002 })).toBeNaN();
});
