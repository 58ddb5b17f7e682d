// Node's pool of four threads, which hash passwords all the time, and a file read for each request
// behind them; the twin hashes little: crypto.mjs fault|healthy.
import { fork } from "node:child_process";
import { pbkdf2 } from "node:crypto";
import { readFile } from "node:fs";
import { createServer, get } from "node:http";

const fault = process.argv[2] === "fault";
const script = process.argv[1];

if (process.argv[3] !== undefined) {
  const port = Number(process.argv[3]);
  const ask = () =>
    get({ port, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => setTimeout(ask, 20));
    }).on("error", () => process.exit());
  for (let i = 0; i < 8; i++) ask();
} else {
  const hash = () =>
    pbkdf2("secret", "salt", fault ? 60_000 : 1000, 64, "sha512", () =>
      setTimeout(hash, fault ? 0 : 200),
    );
  for (let i = 0; i < (fault ? 12 : 1); i++) hash();
  const server = createServer((_request, response) => {
    readFile(script, () => response.end("done"));
  });
  server.listen(0, "127.0.0.1", () => {
    fork(script, [process.argv[2], String(server.address().port)]);
    console.log("ready");
  });
}
