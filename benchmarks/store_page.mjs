// Opens a run in the page and prints seconds from the click: store_page.mjs URL RUN
// first_s: the first curves stand there; whole_s: the whole run is read and shown.
import { openPage } from "./chromium.mjs";

const [url, run] = process.argv.slice(2);
const { page, close } = await openPage();
try {
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
  process.stdout.write(JSON.stringify({ first_s, whole_s: since() }));
} finally {
  await close();
}
