// One chart of the page with all that is behind it (worker, socket, model) and nothing beside it:
// what benchmarks/ui.py compares with one chart of other libraries. ?target=ID&top=LINES#token=TOKEN

import { createRoot } from "react-dom/client";
import { signInFromAddress } from "../../frontend/src/api/session";
import { DARK_CHART_THEME } from "../../frontend/src/chart/palette";
import { TimeChart } from "../../frontend/src/chart/TimeChart";
import { createLiveClient } from "../../frontend/src/stream/workerClient";

const query = new URLSearchParams(location.search);
await signInFromAddress();
const client = createLiveClient();
client.follow(query.get("target"));
// A line a thread, as the others draw.
const level = "thread";
client.request({ level, top_k: Number(query.get("top")), tiles: false, events: false });

const { steer: steering, hover, axis } = client;
const source = { view: client.chart("cpu"), steering, hover, axis };
const controls = {
  window: () => client.view.get().window,
  extent: client.extent,
  onPoint: client.hover.set,
  onSelect: client.select,
  onWindow: () => undefined,
};
const onPlot = (width_px: number, inView: boolean) => client.mountChart("cpu", width_px, inView);

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <TimeChart
      {...{ chart: "cpu", source, controls, onPlot }}
      theme={DARK_CHART_THEME}
      title="CPU per thread"
    />,
  );
}
