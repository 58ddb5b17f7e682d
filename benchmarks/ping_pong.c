/* Two threads on one CPU that wake each other through pipes: nothing but switches and wake-ups.
 *
 * Usage: ping_pong SECONDS [STEPS]. Each line on standard input starts a round, which lasts until so
 * much CPU time is spent; it answers with a line of JSON: exchanges done (a switch to and from each
 * thread, and a wake-up of each), CPU and wall seconds. In each exchange each thread also computes
 * for so many steps; without any, the clock is read once in CHECK_EVERY exchanges only.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CHECK_EVERY = 256 };

static int there[2], back[2];
static long steps;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now)) die("clock_gettime");
  return now.tv_sec + now.tv_nsec / 1e9;
}

static void compute(void) {
  for (volatile long step = 0; step < steps; step++) {
  }
}

static void *answer(void *unused) {
  char byte;
  while (read(there[0], &byte, 1) == 1) {
    compute();
    if (write(back[1], &byte, 1) != 1) die("write");
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t other;
  if (argc < 2 || argc > 3 || pipe(there) || pipe(back)) die("ping_pong SECONDS [STEPS]");
  double spend = strtod(argv[1], NULL);
  if (argc == 3) steps = strtol(argv[2], NULL, 10);
  int batch = steps ? 1 : CHECK_EVERY;
  if (pthread_create(&other, NULL, answer, NULL)) die("pthread_create");
  for (char line[16]; fgets(line, sizeof line, stdin);) {
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), spent = 0;
    long done = 0;
    for (char byte = 'x'; spent < spend; spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)
      for (int i = 0; i < batch; i++, done++) {
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) die("exchange");
        compute();
      }
    printf("{\"done\":%ld,\"cpu_s\":%.9f,\"wall_s\":%.9f}\n", done, spent,
           seconds(CLOCK_MONOTONIC) - wall);
    if (fflush(stdout)) die("stdout");
  }
  return 0;
}
