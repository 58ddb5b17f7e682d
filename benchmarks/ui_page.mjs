// The browser of benchmarks/ui.py: reads a command a line (JSON) and answers each with a line.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { openBrowser } from "./chromium.mjs";

// Other libraries draw what the page draws: a line a thread over the last minute, a sample an update.
// These functions run in a browser's page; their arguments travel there as JSON.

/** Take what is drawn: cores that each thread ran on, a row of Float32 a sample, as base64. */
function takeSamples([threads, text]) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const values = new Float32Array(bytes.buffer);
  const samples = values.length / threads;
  window.valuesOf = (sample) => {
    const row = sample % samples;
    return Array.from(values.subarray(threads * row, threads * (row + 1)));
  };
}

/** ECharts as a newcomer writes it: a series a thread, all of them given again at each update. */
function naive({ threads, points, width, height }) {
  const place = document.getElementById("place");
  place.style.cssText = `width: ${width}px; height: ${height}px`;
  const chart = window.echarts.init(place);
  const lines = Array.from({ length: threads }, () => []);
  let sample = 0;
  const add = () => {
    window.valuesOf(sample).forEach((value, i) => {
      const line = lines[i];
      line.push([50 * sample, value]);
      if (line.length > points) line.shift();
    });
    sample++;
  };
  for (let i = 0; i < points; i++) add();
  chart.setOption({
    // The defaults (animation, a symbol at each point) cost more, and no user would keep them.
    animation: false,
    grid: { left: 62, right: 26, top: 10, bottom: 24 },
    xAxis: { type: "time" },
    yAxis: { type: "value" },
    series: lines.map((data) => ({ type: "line", showSymbol: false, data })),
  });
  window.update = () => {
    add();
    chart.setOption({ series: lines.map((data) => ({ data })) });
  };
}

/** uPlot as its documentation shows it for streams: all columns given again by setData. */
function uplot({ threads, points, width, height }) {
  const place = document.getElementById("place");
  const times = [];
  const lines = Array.from({ length: threads }, () => []);
  let sample = 0;
  const add = () => {
    times.push(0.05 * sample);
    window.valuesOf(sample).forEach((value, i) => {
      lines[i].push(value);
    });
    sample++;
    if (times.length <= points) return;
    times.shift();
    for (const line of lines) line.shift();
  };
  for (let i = 0; i < points; i++) add();
  const series = lines.map((_, i) => ({ stroke: `hsl(${(i * 47) % 360} 70% 55%)`, width: 1.5 }));
  const options = {
    ...{ width, height, series: [{}, ...series] },
    legend: { show: false },
  };
  const chart = new window.uPlot(options, [times, ...lines], place);
  window.update = () => {
    add();
    chart.setData([times, ...lines]);
  };
}

const PEERS = {
  naive: { script: "node_modules/echarts/dist/echarts.min.js", start: naive },
  uplot: { script: "node_modules/uplot/dist/uPlot.iife.min.js", start: uplot },
};

/** Open a page in which a library draws; `update` in it draws the next sample. */
async function openPeer(page, peer, samples, size) {
  const { script, start } = PEERS[peer];
  await page.setContent('<body style="margin: 0; background: #0f1213"><div id="place"></div>');
  await page.addScriptTag({ path: script });
  await page.evaluate(takeSamples, [size.threads, samples]);
  await page.evaluate(start, size);
}

/** Draw some updates, each painted before the next; not faster than so many a second. */
async function updatePeer(page, { updates, rate_hz }) {
  await page.evaluate(
    async ([count, period]) => {
      for (let i = 0; i < count; i++) {
        const began = performance.now();
        window.update();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
        const rest = began + period - performance.now();
        if (rest > 0) await new Promise((done) => setTimeout(done, rest));
      }
    },
    [updates, 1000 / rate_hz],
  );
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

// Our chart's files come from this program: to Chromium that is no local network, the backend is.
const browser = await openBrowser([
  "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
]);
const built = await mkdtemp(join(tmpdir(), "tidscope-one-chart-"));
const pages = new Map();

/** Count views and long tasks; frames only while asked, for counting makes the browser draw them. */
function watch() {
  window.seen = { views: 0, longTasks: [], frames: 0 };
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(...all) {
      super(...all);
      this.addEventListener("message", ({ data }) => {
        if (data.type === "views" && (data.charts?.length || data.map)) {
          window.seen.views++;
        }
      });
    }
  };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.seen.longTasks.push(duration);
  }).observe({ entryTypes: ["longtask"] });
  let asked = 0;
  const count = () => {
    window.seen.frames++;
    asked = requestAnimationFrame(count);
  };
  window.countFrames = (on) => {
    cancelAnimationFrame(asked);
    if (on) asked = requestAnimationFrame(count);
  };
}

/** A page of its own context, and with it of its own process. */
async function opened(name) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
  });
  const page = await context.newPage();
  await page.addInitScript(watch);
  page.on("pageerror", (error) => process.stderr.write(`${name}: ${error}\n`));
  page.on("requestfailed", (request) => process.stderr.write(`${name}: ${request.url()} failed\n`));
  page.on("response", (answer) => {
    if (answer.status() >= 400)
      process.stderr.write(`${name}: ${answer.status()} ${answer.url()}\n`);
  });
  pages.set(name, page);
  return page;
}

/** Bytes of the page's own heap, without garbage. */
async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

const COMMANDS = {
  /** The real page on a target. */
  async page({ name, url }) {
    const page = await opened(name);
    await page.goto(url);
    await page.locator("[data-panel] canvas").first().waitFor();
    return {};
  },
  /** Something selected and the Steer drawer open: as many lines as there can be. */
  async prepare({ name, pressed, shown }) {
    const page = pages.get(name);
    await page.locator(pressed).first().click();
    await page
      .getByRole("button", { name: /^Steer/ })
      .first()
      .click();
    await page.mouse.move(0, 0);
    // A panel and what is above it, as much as there is room for.
    await page.locator(shown).evaluate((panel) => panel.scrollIntoView(false));
    return {};
  },
  /** One chart of ours, served from this program under the backend's origin. */
  async chart({ name, origin, query }) {
    await build({
      root: "benchmarks/one_chart",
      base: "/one-chart/",
      plugins: [react()],
      worker: { format: "es" },
      build: { outDir: built, emptyOutDir: true, target: "es2022" },
      logLevel: "error",
    });
    const page = await opened(name);
    await page.context().route(`${origin}/one-chart/**`, async (route) => {
      const path = new URL(route.request().url()).pathname.replace("/one-chart/", "");
      const body = await readFile(join(built, path));
      await route.fulfill({ body, contentType: TYPES[extname(path)] ?? "text/plain" });
    });
    await page.goto(`${origin}/one-chart/index.html${query}`);
    await page.locator("canvas").first().waitFor();
    return {};
  },
  async peer({ name, peer, samples, ...size }) {
    const page = await opened(name);
    await openPeer(page, peer, samples, size);
    // An empty page does not run what is added to pages that are opened.
    await page.evaluate(watch);
    return {};
  },
  async update({ name, ...how }) {
    await updatePeer(pages.get(name), how);
    return {};
  },
  /** Move the pointer across a chart for some seconds, ten times a second. */
  async hover({ name, seconds, selector }) {
    const page = pages.get(name);
    const box = await page.locator(selector).first().boundingBox();
    const until = performance.now() + 1000 * seconds;
    for (let step = 0; performance.now() < until; step++) {
      const share = 0.2 + 0.6 * ((step % 40) / 40);
      await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
      await new Promise((done) => setTimeout(done, 100));
    }
    return {};
  },
  /** A page of text alone, as long as that of a group: what scrolling costs in any case. */
  async text({ name }) {
    const page = await opened(name);
    const lines = Array.from({ length: 300 }, (_, n) => `<p>${n} ${"text ".repeat(30)}</p>`);
    await page.setContent(lines.join(""));
    // An empty page does not run what is added to pages that are opened.
    await page.evaluate(watch);
    return {};
  },
  /** Scroll through the whole page and back for some seconds, as a wheel does. */
  async scroll({ name, seconds }) {
    const page = pages.get(name);
    await page.mouse.move(20, 450);
    const until = performance.now() + 1000 * seconds;
    for (let step = 0; performance.now() < until; step++) {
      await page.mouse.wheel(0, step % 80 < 40 ? 120 : -120);
      await new Promise((done) => setTimeout(done, 50));
    }
    return {};
  },
  /** Unfold some processes of a group, in the thread table and in the thread map. */
  async unfold({ name, processes }) {
    const page = pages.get(name);
    const table = page.getByRole("treegrid");
    await table.scrollIntoViewIfNeeded();
    for (let n = 0; n < processes; n++) {
      await table
        .getByRole("button", { name: /^Unfold/ })
        .first()
        .click();
    }
    const map = page.locator("[data-panel=map] canvas").first();
    await map.scrollIntoViewIfNeeded();
    return { rows: await table.locator("[data-row]").count() };
  },
  /** Write what the browser does to a file, for chrome://tracing, until it is asked to stop. */
  async trace({ name, path }) {
    await browser.startTracing(pages.get(name), { path });
    return {};
  },
  async traced() {
    await browser.stopTracing();
    return {};
  },
  async top({ name }) {
    await pages.get(name).evaluate(() => document.scrollingElement?.scrollTo(0, 0));
    return {};
  },
  async frames({ name, on }) {
    await pages.get(name).evaluate((value) => window.countFrames(value), on);
    return {};
  },
  async seen({ name }) {
    return pages.get(name).evaluate(() => {
      const { views, longTasks, frames } = window.seen;
      const state = document.querySelector("[data-chart]")?.dataset.state ?? "";
      const found = { views, longTasks, frames, state };
      Object.assign(window.seen, { views: 0, longTasks: [], frames: 0 });
      return found;
    });
  },
  async heap({ name }) {
    return { bytes: await heapOf(pages.get(name)) };
  },
  async size({ name, selector }) {
    const box = await pages.get(name).locator(selector).first().boundingBox();
    return { width: Math.round(box.width), height: Math.round(box.height) };
  },
  async picture({ name, path }) {
    await pages.get(name).screenshot({ path });
    return {};
  },
  async close({ name }) {
    await pages.get(name).context().close();
    pages.delete(name);
    return {};
  },
};

try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, ...rest } = JSON.parse(line);
    const answer = await COMMANDS[command](rest);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
} finally {
  await browser.close();
  await rm(built, { recursive: true, force: true });
}
