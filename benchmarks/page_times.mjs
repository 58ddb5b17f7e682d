// Times of the page in Debian's chromium, printed as JSON.
//
// page_times.mjs frames URL TARGET SECONDS FLOOR_SECONDS: when each frame passed in the Live page,
// and in a page that only paints a rectangle for each frame (the floor).
// page_times.mjs run URL RUN: seconds from the click on a run until the first curves are drawn
// (first_s), and until the whole run is read and shown (whole_s).
import { openPage } from "./chromium.mjs";

const [what, ...words] = process.argv.slice(2);

/** Earlier frames belong to the kept history and to the first drawing. */
const SETTLE_MS = 5_000;

/** The entries of some seconds, of a page that has begun to note them. */
async function entriesOf(page, seconds) {
  await page.waitForFunction(() => window.__tidscope_probe.length > 0, undefined, {
    timeout: 60_000,
  });
  await page.waitForTimeout(SETTLE_MS);
  const start = await page.evaluate(() => Date.now());
  await page.waitForTimeout(Number(seconds) * 1000);
  const entries = await page.evaluate(() => window.__tidscope_probe);
  return entries.filter((entry) => entry.received_unix_ms >= start);
}

/** Paint a rectangle for each frame of a target; no more is read of it than its number. */
async function paintRectangles({ target, token }) {
  const answer = await fetch("/api/v1/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  const { credential } = await answer.json();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 600;
  document.body.append(canvas);
  const pen = canvas.getContext("2d");
  const now = () => performance.timeOrigin + performance.now();
  const probe = [];
  window.__tidscope_probe = probe;
  const address = new URL("/ws/live", location.href);
  address.protocol = "ws:";
  const socket = new WebSocket(address, ["tidscope.v1", `tidscope.session.${credential}`]);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => socket.send(JSON.stringify({ type: "subscribe", target, after_seq: null }));
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") return;
    const received_unix_ms = now();
    const length = new DataView(data).getUint32(0, true);
    const text = new TextDecoder().decode(new Uint8Array(data, 4, length));
    const seq = Number(/"seq": ?(\d+)/.exec(text)[1]);
    pen.fillStyle = `hsl(${seq % 360} 50% 50%)`;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => probe.push({ seq, received_unix_ms, painted_unix_ms: now() });
      channel.port2.postMessage(null);
    });
  };
}

async function inPage(action) {
  const { page, close } = await openPage();
  try {
    return await action(page);
  } finally {
    await close();
  }
}

async function frameTimes(url, target, seconds, floorSeconds) {
  const entries = await inPage(async (page) => {
    await page.addInitScript(() => {
      window.__tidscope_probe = [];
    });
    await page.goto(url);
    return await entriesOf(page, seconds);
  });
  const { origin, hash } = new URL(url);
  const floor = await inPage(async (page) => {
    await page.goto(`${origin}/licenses.json`);
    await page.evaluate(paintRectangles, { target, token: hash.replace("#token=", "") });
    return await entriesOf(page, floorSeconds);
  });
  return { entries, floor };
}

async function runTimes(url, run) {
  return await inPage(async (page) => {
    // Signed in, and the page's files in the browser's cache, as for a person who comes from the list.
    await page.goto(url);
    await page.waitForSelector("[data-connection=open]");
    await page.goto(new URL("/runs", url).href);
    const link = page.locator(`a[href="/runs/${run}"]`).first();
    await link.waitFor();
    const began = performance.now();
    await link.click();
    const since = () => (performance.now() - began) / 1000;
    await page.waitForFunction(() => document.querySelector("[data-chart] canvas, canvas"));
    const first_s = since();
    await page.waitForSelector('[data-reading="ready"]');
    return { first_s, whole_s: since() };
  });
}

const times = await { frames: frameTimes, run: runTimes }[what](...words);
process.stdout.write(JSON.stringify(times));
