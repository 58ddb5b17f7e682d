// A Node server whose loop sorts for 80 ms at each request, or for 1: incident.mjs fault|healthy.
import { fork } from "node:child_process";
import { createServer, get } from "node:http";

const fault = process.argv[2] === "fault";

function work(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end) [3, 1, 2].sort();
}

const server = createServer((request, response) => {
  work(request.url === "/report" ? (fault ? 80 : 1) : 0.1);
  response.end("done");
});

if (process.argv[3] !== undefined) {
  const port = Number(process.argv[3]);
  const ask = (path, pause) =>
    get({ port, path, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => setTimeout(ask, pause, path, pause));
    }).on("error", () => process.exit());
  for (let i = 0; i < 4; i++) ask("/", 5);
  ask("/report", 20);
} else {
  server.listen(0, "127.0.0.1", () => {
    fork(process.argv[1], [process.argv[2], String(server.address().port)]);
    console.log("ready");
  });
}
