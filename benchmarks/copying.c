/* Copies 64 KiB from the page cache, again and again: what the kernel copies for a program that reads.
 *
 * Usage: copying SECONDS. Each line on standard input starts a round, which lasts until so much CPU time is
 * spent; it answers with a line of JSON: copies done, CPU and wall seconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 65536, CHECK_EVERY = 64 };

static char bytes[BYTES];

static void die(const char *what) {
  perror(what);
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now)) die("clock_gettime");
  return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  int file = memfd_create("copied", MFD_CLOEXEC);
  if (argc != 2 || file < 0) die("copying SECONDS");
  if (write(file, memset(bytes, 1, BYTES), BYTES) != BYTES) die("write");
  double spend = strtod(argv[1], NULL);
  for (char line[16]; fgets(line, sizeof line, stdin);) {
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), spent = 0;
    long done = 0;
    for (; spent < spend; spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)
      for (int i = 0; i < CHECK_EVERY; i++, done++)
        if (pread(file, bytes, BYTES, 0) != BYTES) die("pread");
    printf("{\"done\":%ld,\"cpu_s\":%.9f,\"wall_s\":%.9f}\n", done, spent,
           seconds(CLOCK_MONOTONIC) - wall);
    if (fflush(stdout)) die("stdout");
  }
  return 0;
}
