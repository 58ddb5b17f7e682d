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
    // Its defaults (animated, a symbol at each point) would cost more; nobody would keep those.
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

export const PEERS = {
  naive: { script: "node_modules/echarts/dist/echarts.min.js", start: naive },
  uplot: { script: "node_modules/uplot/dist/uPlot.iife.min.js", start: uplot },
};

/** Open a page in which a library draws; `update` in it draws the next sample. */
export async function openPeer(page, peer, samples, size) {
  const { script, start } = PEERS[peer];
  await page.setContent('<body style="margin: 0; background: #0f1213"><div id="place"></div>');
  await page.addScriptTag({ path: script });
  await page.evaluate(takeSamples, [size.threads, samples]);
  await page.evaluate(start, size);
}

/** Draw some updates, each painted before the next; not faster than so many a second. */
export async function updatePeer(page, { updates, rate_hz }) {
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
