// A Node program that asks a store of its own 200 times for each request, one question after the
// other, or once: asking.mjs fault|healthy.
import { fork } from "node:child_process";
import { connect, createServer } from "node:net";

const questions = process.argv[2] === "fault" ? 200 : 1;

function serve() {
  process.title = "row-store";
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on("data", () => socket.write("row"));
    socket.on("error", () => process.exit());
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

function ask(port) {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  let left = questions;
  socket.on("data", () => {
    if (--left > 0) {
      socket.write("get");
      return;
    }
    left = questions;
    setTimeout(() => socket.write("get"), 20);
  });
  socket.on("connect", () => socket.write("get"));
}

if (process.argv[3] === "store") {
  serve();
} else {
  const store = fork(process.argv[1], [process.argv[2], "store"]);
  store.on("message", (port) => {
    ask(port);
    ask(port);
    console.log("ready");
  });
}
