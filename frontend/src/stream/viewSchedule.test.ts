import { beforeEach, describe, expect, it } from "vitest";
import { ViewSchedule } from "./viewSchedule";

/** A schedule with a manual clock, over rounds that only record what was computed when. */
class World {
  now = 0;
  readonly made: string[] = [];
  /** Due time of text parts, and the duration of each round. */
  due_ms = Number.POSITIVE_INFINITY;
  cost_ms = 0;
  private drawn = 0;
  private timers: { at: number; call: () => void }[] = [];
  readonly schedule = new ViewSchedule(
    {
      move: () => this.make("move"),
      read: () => {
        this.due_ms = Number.POSITIVE_INFINITY;
        return this.make("read");
      },
      readDue_ms: () => this.due_ms,
    },
    {
      clock_ms: () => this.now,
      later: (call, ms) => {
        const timer = { at: this.now + ms, call };
        this.timers.push(timer);
        return () => {
          this.timers = this.timers.filter((other) => other !== timer);
        };
      },
    },
  );

  private make(what: string): boolean {
    this.made.push(`${what} ${this.now}`);
    this.now += this.cost_ms;
    return true;
  }

  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.call();
    }
    this.now = Math.max(this.now, end);
  }

  /** Deliver frames for some time; the page draws each view soon after. */
  frames(every_ms: number, for_ms: number, draws = true): void {
    for (let t = 0; t < for_ms; t += every_ms) {
      this.schedule.changed();
      this.pass(every_ms / 2);
      for (; this.drawn < this.made.length && draws; this.drawn++) this.schedule.drawn();
      this.pass(every_ms / 2);
    }
  }

  of(what: string): number[] {
    return this.made.filter((one) => one.startsWith(what)).map((one) => Number(one.split(" ")[1]));
  }
}

let world = new World();
beforeEach(() => {
  world = new World();
});

describe("ViewSchedule", () => {
  it("makes each of ten frames a second at once", () => {
    world.frames(100, 1000);
    expect(world.of("move")).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
  });

  it("makes one view of a burst", () => {
    for (let n = 0; n < 50; n++) world.schedule.changed();
    world.pass(30);
    expect(world.of("move")).toEqual([0]);
  });

  it("makes no more of many frames than can be seen, and leaves half of the time to frames", () => {
    world.frames(10, 390);
    expect(world.of("move")).toEqual([0, 40, 80, 120, 160, 200, 240, 280, 320, 360]);
    world = new World();
    world.cost_ms = 100;
    for (let n = 0; n < 20; n++) {
      world.schedule.changed();
      world.pass(50);
      world.schedule.drawn();
    }
    const starts = world.of("move");
    const gaps = starts.slice(1).map((at, n) => at - (starts[n] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200);
  });

  it("has one view at hand for a page that draws, and the newest when it is done", () => {
    world.frames(100, 400, false);
    expect(world.of("move")).toEqual([0, 100]);
    world.schedule.drawn();
    world.pass(1);
    expect(world.of("move")).toEqual([0, 100, 400]);
    world.schedule.drawn();
    world.pass(1);
    expect(world.of("move")).toHaveLength(3); // No frame has arrived since.
  });

  it("goes on at a low rate for a page that does not say that it drew", () => {
    world.frames(100, 5000, false);
    const count = world.of("move").length;
    expect(count).toBeGreaterThanOrEqual(5);
    expect(count).toBeLessThanOrEqual(12);
  });

  it("makes what is read when the page has drawn what moves, not before", () => {
    world.due_ms = 0;
    world.schedule.changed();
    world.pass(40);
    expect(world.made).toEqual(["move 0"]);
    world.schedule.drawn();
    world.pass(1);
    expect(world.made).toEqual(["move 0", "read 40"]);
  });

  it("makes what is read without frames too", () => {
    world.due_ms = 1000;
    world.schedule.check();
    world.pass(2000);
    expect(world.of("read")).toEqual([1100]);
  });

  it("does not put off what is read for ever, however many frames come", () => {
    world.due_ms = 0;
    // A page that always draws: one view is always in transit.
    world.schedule.changed();
    world.pass(1);
    for (let n = 0; n < 60; n++) {
      world.schedule.changed();
      world.pass(40);
      world.schedule.drawn();
      world.schedule.changed();
      if (world.of("read").length > 0) break;
    }
    expect(world.of("read")[0]).toBeLessThan(700);
    expect(world.of("move").length).toBeGreaterThan(5);
  });

  it("lets what moves have every other turn when what is read is late", () => {
    world.frames(100, 200, false);
    world.due_ms = -10_000;
    for (let n = 0; n < 10; n++) {
      world.schedule.changed();
      world.schedule.drawn();
      world.pass(50);
      world.due_ms = -10_000;
    }
    expect(world.of("read").length).toBeGreaterThan(2);
    expect(world.of("move").length).toBeGreaterThan(4);
  });

  it("makes nothing for a hidden page, and shows the newest at once when it comes back", () => {
    world.frames(100, 300, false);
    world.schedule.setRunning(false);
    const before = world.made.length;
    world.due_ms = 0;
    world.frames(100, 3000, false);
    expect(world.made).toHaveLength(before);
    world.schedule.setRunning(true);
    world.pass(1);
    expect(world.made.at(-1)).toBe(`move ${world.now - 1}`);
  });

  it("goes on after a sleep: what was on its way then holds nothing up", () => {
    world.frames(100, 200, false);
    world.now += 3_600_000;
    world.schedule.changed();
    world.pass(1);
    expect(world.made.at(-1)).toBe(`move ${world.now - 1}`);
  });

  it("answers a person sooner than it follows frames", () => {
    world.frames(100, 100);
    world.schedule.changed();
    world.schedule.asked();
    const before = world.now;
    world.pass(20);
    world.schedule.asked();
    world.pass(20);
    expect(world.of("move").filter((at) => at >= before)).toEqual([before, before + 20]);
  });

  it("makes nothing any more when it is stopped", () => {
    world.schedule.changed();
    world.schedule.stop();
    world.pass(100);
    expect(world.made).toEqual([]);
  });
});
