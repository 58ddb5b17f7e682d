// A Node program whose heap is nearly full, so that it collects garbage most of the time; or one
// with room: garbage.mjs fault|healthy.
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--max-old-space-size=160");
const kept = [];
if (process.argv[2] === "fault") {
  for (let i = 0; i < 1_150_000; i++) kept.push({ id: i, text: `order ${i}` });
}
console.log("ready");

function report() {
  const rows = [];
  for (let i = 0; i < 20_000; i++) rows.push({ id: i, text: `row ${i}` });
  if (kept.length > 0) {
    for (const row of rows) kept[Math.floor(Math.random() * kept.length)] = row;
  }
  setTimeout(report, 20);
}
report();
