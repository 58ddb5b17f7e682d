// Threads whose time in each function is known: see known_code.py.

import { readlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

// Words that threads share, and wait for.
const NEVER = 0;
const RELEASED = 1;
const OVER = 2;
const RELEASER = 3;
const ASKED = 4;
const POSTS = ["postSoon", "postLate"];
const words = new Int32Array(isMainThread ? new SharedArrayBuffer(64) : workerData.shared);
const ns = {};

const nowNs = () => process.hrtime.bigint();
const tid = () => Number(readlinkSync("/proc/thread-self").split("/").pop());

function add(name, begin) {
  ns[name] = (ns[name] ?? 0) + Number(nowNs() - begin);
}

function waitBriefly() {
  const begin = nowNs();
  Atomics.wait(words, NEVER, 0, 0.4);
  add("waitBriefly", begin);
}

function waitLonger() {
  const begin = nowNs();
  Atomics.wait(words, NEVER, 0, 4);
  add("waitLonger", begin);
}

function spin(milliseconds) {
  for (const until = nowNs() + BigInt(milliseconds * 1e6); nowNs() < until; ) {
    for (let i = 0; i < 1000; i++) words[8 + (i & 1)] ^= i;
  }
}

function computeSome() {
  const begin = nowNs();
  spin(1);
  add("computeSome", begin);
}

function computeMore() {
  const begin = nowNs();
  spin(3);
  add("computeMore", begin);
}

// Threads take long to start, so each works for its own time.
const inTime = (seconds) => nowNs() + BigInt(Math.round(seconds * 1e9));

function work() {
  const end = inTime(workerData.seconds);
  while (nowNs() < end) {
    for (let left = 1 + Math.random() * 15; left > 0; left--) waitBriefly();
    waitLonger();
    computeSome();
    computeMore();
  }
}

function take(word) {
  while (Atomics.compareExchange(words, word, 1, 0) !== 1) Atomics.wait(words, word, 0);
}

function post(word) {
  Atomics.store(words, word, 1);
  Atomics.notify(words, word);
}

function postSoon() {
  words[RELEASER] = 0;
  post(RELEASED);
}

function postLate() {
  words[RELEASER] = 1;
  post(RELEASED);
}

function awaitRelease() {
  const begin = nowNs();
  take(RELEASED);
  add(POSTS[words[RELEASER]], begin);
}

function waitInTurn() {
  const end = inTime(workerData.seconds);
  for (let which = 0; nowNs() < end; which = 1 - which) {
    post(ASKED + which);
    awaitRelease();
  }
  Atomics.store(words, OVER, 1);
  for (let which = 0; which < 2; which++) post(ASKED + which);
}

function release(which, milliseconds, releaseIt) {
  for (;;) {
    take(ASKED + which);
    if (Atomics.load(words, OVER)) return;
    Atomics.wait(words, NEVER, 0, milliseconds);
    releaseIt();
  }
}

const PARTS = {
  work,
  waitInTurn,
  releaseSoon: () => release(0, 1, postSoon),
  releaseLate: () => release(1, 4, postLate),
};

function started(part, seconds) {
  const data = { part, seconds, shared: words.buffer };
  return new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url), { workerData: data })
      .on("message", resolve)
      .on("error", reject);
  });
}

async function run(seconds) {
  words.fill(0);
  const parts = ["work", "work", "work", "waitInTurn", "releaseSoon", "releaseLate"];
  const [one, two, three, waiter, soon, late] = await Promise.all(
    parts.map((part) => started(part, seconds)),
  );
  return {
    workers: Object.fromEntries([one, two, three].map((worker) => [worker.tid, worker.ns])),
    waiter: waiter.tid,
    released_ns: waiter.ns,
    releasers: { postSoon: soon.tid, postLate: late.tid },
  };
}

async function main() {
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await run(Number(line))));
  }
}

if (isMainThread) {
  main();
} else {
  PARTS[workerData.part]();
  parentPort.postMessage({ tid: tid(), ns });
}
