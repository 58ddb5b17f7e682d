import { expect, it } from "vitest";
import { History } from "./history";
import { pickPoints, sparkline } from "./spark";

it("needs few of many samples for the same slopes", () => {
  const history = new History(1, 2);
  const latest = Float64Array.from([Number.NaN, 0]);
  for (let i = 0; i <= 600; i++) {
    const t_s = i / 10;
    history.begin(t_s, latest, 64);
    // Ten per second, and none from 20 s to 40 s.
    const value = 10 * (t_s < 20 ? t_s : Math.max(20, t_s - 20));
    history.set(1, 0, value);
    latest[1] = value;
  }
  const all = history.between(0, 60);
  const picks = pickPoints(all, 0, 60, 40);
  expect(picks.length).toBeLessThanOrEqual(42);
  const n = picks.length;
  const values = new Float64Array(n);
  history.readAt(all, picks, 1, 0, 0, values);
  const every = new Float64Array(all.n);
  history.read(all, 1, 0, 0, every);
  expect([...values]).toEqual([...picks].map((pick) => every[pick]));
  const time_s = Float64Array.from(picks, (pick) => all.time_s[pick] ?? 0);
  const spark = sparkline({ n, time_s }, values, 0, 60, 40, 0.5);
  expect([spark[5], spark[20], spark[35]].map((value) => Math.round(value ?? -1))).toEqual([
    10, 0, 10,
  ]);
});
