/* hog CPU: computes there without a pause. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  cpu_set_t cpus;
  if (argc != 2) return 2;
  CPU_ZERO(&cpus);
  CPU_SET(atoi(argv[1]), &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus)) return 1;
  puts("ready");
  fflush(stdout);
  for (volatile unsigned long n = 0;; n++) {}
}
