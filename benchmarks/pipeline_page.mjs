// Opens the Live page in Debian's chromium and prints, after some seconds, how long frames took
// from the sample to the page and to its first paint. pipeline_page.mjs URL SECONDS
import { openPage } from "./chromium.mjs";

const [url, seconds] = process.argv.slice(2);
const { page, close } = await openPage();
try {
  await page.addInitScript(() => {
    window.__tidscope_probe = [];
  });
  await page.goto(url);
  await page.waitForFunction(() => window.__tidscope_probe.length > 0, undefined, {
    timeout: 60_000,
  });
  // What came before is kept history, and the page's first drawing.
  await page.waitForTimeout(5_000);
  const start = await page.evaluate(() => Date.now());
  await page.waitForTimeout(Number(seconds) * 1000);
  const entries = await page.evaluate(() => window.__tidscope_probe);
  process.stdout.write(JSON.stringify({ start, entries }));
} finally {
  await close();
}
