/** Common fatal signals, by number (signal(7), x86 and ARM). */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
};

/** Text of a wait(2) status: a signal in the low seven bits, an exit code above. */
export function exitStatusText(status: number | null): string {
  if (status === null) {
    return "exit status unknown";
  }
  const signal = status & 0x7f;
  if (signal !== 0) {
    return `killed by ${SIGNALS[signal] ?? `signal ${signal}`}`;
  }
  return `exit code ${(status >> 8) & 0xff}`;
}
