/**
 * The whole page for component tests: the real App over the real client and session. The test
 * controls the backend (backend.ts) and the clock. Folder `testing`: fakes and builders for tests.
 * Product code must not import it.
 */

import { act, cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { StrictMode } from "react";
import { expect, vi } from "vitest";
import { App } from "../app/App";
import { navigate } from "../base/routing";
import { keepSession } from "../base/session";
import { dismiss, toasts } from "../base/toasts";
import { drawerOpen } from "../features/steering/SteerProvider";
import { type LiveClient, LiveClientContext, RunClientsContext } from "../stream/client";
import { loadFindings } from "../stream/factViews";
import type { RunSource } from "../stream/runWindow";
import { LiveSession } from "../stream/session";
import { clientOf, runClientOf, type WorkerLike } from "../stream/workerClient";
import type { ToWorker } from "../stream/workerProtocol";
import type { ReadFrames } from "../wire/runFrames";
import { FakeBackend } from "./backend";
import { type FrameChanges, frame, type Row, TARGET } from "./frames";
import { steadyWork } from "./ledgers";

/** The session without a worker thread: messages go both ways at once, as copies. */
function workerOver(backend: FakeBackend, read: ReadFrames): WorkerLike {
  const worker: WorkerLike = {
    onmessage: null,
    postMessage: (message: ToWorker) => session.receive(structuredClone(message)),
    terminate: () => undefined,
  };
  const session = new LiveSession({
    connect: backend.connect,
    later: (call, ms) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    now_ms: () => Date.now(),
    clock_ms: () => performance.now(),
    random: () => 0,
    read,
    post: (message, transfer) => {
      const data = structuredClone(message, { transfer });
      worker.onmessage?.(new MessageEvent("message", { data }));
    },
  });
  return worker;
}

function isSubscribe(command: unknown): boolean {
  return (command as { readonly type?: unknown }).type === "subscribe";
}

/** Frames delivered in one go: computing views for each frame would make tests slow. */
const BURST = 10;

/** Optional replacements for a test. */
interface PageOptions {
  readonly backend?: FakeBackend;
  /** Reader of a run's frames. */
  readonly read?: ReadFrames;
}

/** The page on screen, and the actions of a user. */
export class TestPage {
  readonly user = userEvent.setup({ delay: null });
  readonly backend: FakeBackend;
  readonly client: LiveClient;
  private seq = 0;
  /** Number of the page's messages processed so far. */
  private heard = 0;

  private constructor(backend: FakeBackend, client: LiveClient) {
    this.backend = backend;
    this.client = client;
  }

  /** Open an address of the page. */
  static async open(address: string, options: PageOptions = {}): Promise<TestPage> {
    const { backend = new FakeBackend(), read = () => Promise.reject(new Error("no run here")) } =
      options;
    await loadFindings();
    keepSession({ credential: "tds_of-the-tests", role: backend.role });
    drawerOpen.set(false);
    for (const { id } of toasts.get()) dismiss(id);
    navigate(address);
    const client = clientOf(workerOver(backend, read), "ws://localhost/ws/live", null);
    const runs = (run: RunSource) => runClientOf(workerOver(backend, read), run);
    const page = new TestPage(backend, client);
    render(
      <StrictMode>
        <LiveClientContext value={client}>
          <RunClientsContext value={runs}>
            <App />
          </RunClientsContext>
        </LiveClientContext>
      </StrictMode>,
    );
    await page.pass(0);
    return page;
  }

  /** Advance the clock; timers, requests and their effects are processed. */
  async pass(ms: number): Promise<void> {
    await act(() => vi.advanceTimersByTimeAsync(ms));
  }

  /**
   * Open the page of the test target, a steady program, with all panels, and deliver some seconds of
   * frames.
   */
  static async watching(seconds = 3, options: PageOptions = {}): Promise<TestPage> {
    const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, options);
    await page.run(seconds);
    return page;
  }

  /** Reload the page: only the browser's storage survives. */
  static async reopened(before: TestPage): Promise<TestPage> {
    before.leave();
    return TestPage.watching();
  }

  /** Close the page. */
  leave(): void {
    cleanup();
    this.client.dispose();
  }

  /** Deliver frames of the steady program for some seconds, ten frames per second. */
  async run(seconds: number): Promise<void> {
    for (let left = Math.round(10 * seconds); left > 0; left -= BURST) {
      await this.pass(100 * Math.min(BURST, left));
      for (let each = Math.min(BURST, left); each > 0; each--) {
        const rows = steadyWork((this.seq + 1) / 10, this.beginsWithKey());
        const cpu_ns = rows.reduce((sum, { counters }) => sum + (counters.cpu_run_ns ?? 0), 0);
        this.send(rows, { process: { cpu_ns } });
      }
    }
    await this.settle();
  }

  /** Deliver a frame, a tenth of a second after the last one. */
  async frame(rows: readonly Row[], changes: Partial<FrameChanges> = {}): Promise<void> {
    this.send(rows, changes);
    await this.pass(100);
  }

  /**
   * Whether the page has subscribed since the last frame, so that the next one must be a key frame.
   */
  private beginsWithKey(): boolean {
    const { commands } = this.backend;
    const asks = commands.slice(this.heard).some((each) => isSubscribe(each));
    this.heard = commands.length;
    return asks;
  }

  private send(rows: readonly Row[], changes: Partial<FrameChanges> = {}): void {
    this.seq++;
    this.backend.frame(frame({ ...changes, seq: this.seq }, rows));
  }

  /** Wait until views are computed, and throttled numbers (400 ms) are shown. */
  async settle(): Promise<void> {
    await this.pass(1000);
  }

  async click(element: Element): Promise<void> {
    await this.user.click(element);
    await this.pass(50);
  }

  /** Press keys in user-event notation: "g", "{Enter}", "{ArrowDown}". */
  async press(keys: string): Promise<void> {
    await this.user.keyboard(keys);
    await this.pass(50);
  }

  async fill(field: Element, text: string): Promise<void> {
    await this.user.clear(field);
    if (text !== "") await this.user.type(field, text.replaceAll(/[[{]/g, "$&$&"));
    await this.pass(50);
  }

  async select(field: Element, label: string): Promise<void> {
    await this.user.selectOptions(field, label);
    await this.pass(50);
  }

  /** Return the only element that matches a selector. */
  one(selector: string): HTMLElement {
    const [found, second] = document.querySelectorAll<HTMLElement>(selector);
    if (!found || second) expect.fail(`${second ? "more than one" : "no"} ${selector}`);
    return found;
  }

  /** Return the region with this name. */
  region(name: string) {
    return within(screen.getByRole("region", { name }));
  }

  /** Return the thread table's row with this name. */
  row(name: string): HTMLElement {
    const table = this.region("Threads");
    const row = table.getByRole("button", { name }).closest("tr");
    return row ?? expect.fail(`no row of ${name}`);
  }

  /** A cell of the thread table. */
  cell(name: string, column: string): HTMLElement {
    const cell = this.row(name).querySelector<HTMLElement>(`[data-column="${column}"]`);
    return cell ?? expect.fail(`no ${column} of ${name}`);
  }
}
