/** The page of a target with ledgers, for component tests. */

import type { FrameTables } from "../wire/frame";
import type { Runtime } from "../wire/generated/models";
import { FakeBackend } from "./backend";
import { cycle, LEDGER_TARGET, LedgerFrames, type LedgerThread } from "./ledgers";
import { TestPage } from "./TestPage";

const UNTIL_S = 60;

/** Two workers at a lock, an event loop, and a sleeper from before attach. */
export const PROGRAM: readonly LedgerThread[] = [
  ...[1, 2].map((n) =>
    cycle(
      { tid: n, name: `worker-${n}`, start_s: -5 },
      [
        ["on_cpu", 0.2],
        ["futex", 0.2],
        ["woken", 0.1],
      ],
      UNTIL_S,
    ),
  ),
  cycle(
    { tid: 3, name: "loop", start_s: -5 },
    [
      ["poll", 0.45],
      ["on_cpu", 0.05],
    ],
    UNTIL_S,
  ),
  { tid: 4, name: "timer", start_s: -5, stays: [[-5, "sleep"]] },
];

export class LedgerPage {
  private tick = 0;

  private constructor(
    readonly page: TestPage,
    private readonly backend: FakeBackend,
    private readonly frames: LedgerFrames,
  ) {}

  /** Open the page of a program, and deliver some seconds of frames. */
  static async watching(
    seconds: number,
    threads: readonly LedgerThread[] = PROGRAM,
    address = "",
    backend = new FakeBackend(),
    runtime: Runtime = LEDGER_TARGET.process.runtime,
  ): Promise<LedgerPage> {
    const process = { ...LEDGER_TARGET.process, runtime };
    backend.begin({ targets: [{ ...LEDGER_TARGET, process }] });
    const page = await TestPage.open(`/?target=${LEDGER_TARGET.id}&tab=all${address}`, { backend });
    const watched = new LedgerPage(page, backend, new LedgerFrames(threads));
    await watched.run(seconds);
    return watched;
  }

  /** Deliver frames for some seconds, ten per second; the last frame of each second has tables. */
  async run(seconds: number, tables: (t_s: number) => FrameTables = () => ({})): Promise<void> {
    const end = this.tick + Math.round(10 * seconds);
    for (; this.tick <= end; this.tick++) {
      const t_s = this.tick / 10;
      this.backend.frame(this.frames.at(t_s, this.tick % 10 === 0 ? { tables: tables(t_s) } : {}));
      if (this.tick % 10 === 9) await this.page.pass(1000);
    }
    await this.page.settle();
  }
}
