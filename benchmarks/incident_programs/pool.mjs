// Node's pool of four threads, which reads wait in for their disk or pipe: all four wait for a pipe
// that hardly writes, or none does. A server reads a file for each request: pool.mjs fault|healthy.
import { execFileSync, fork } from "node:child_process";
import { openSync, read, readFile, writeSync } from "node:fs";
import { createServer, get } from "node:http";

const fault = process.argv[2] === "fault";
const script = process.argv[1];

function follow(pipe) {
  execFileSync("mkfifo", [pipe]);
  // Open for both, as otherwise opening waits for a writer.
  const file = openSync(pipe, "r+");
  const buffer = Buffer.alloc(64);
  const next = () => read(file, buffer, 0, 64, null, next);
  next();
  setInterval(() => writeSync(file, "line\n"), 400);
}

if (process.argv[3] !== undefined) {
  const port = Number(process.argv[3]);
  const ask = () =>
    get({ port, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => setTimeout(ask, 20));
    }).on("error", () => process.exit());
  for (let i = 0; i < 8; i++) ask();
} else {
  if (fault) for (let i = 0; i < 4; i++) follow(`log-${i}`);
  const server = createServer((_request, response) => {
    readFile(script, () => response.end("done"));
  });
  server.listen(0, "127.0.0.1", () => {
    fork(script, [process.argv[2], String(server.address().port)]);
    console.log("ready");
  });
}
