/*
 * Threads that read a file with O_DIRECT, all on one CPU: `direct_reads FILE THREADS`. Says its first
 * line when all are there; for each byte of input every thread reads READS blocks, and a line follows.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 1024, READS = 400 };

static pthread_barrier_t begin, end;
static const char *path;

static void check(const char *what, int good) {
  if (good) return;
  perror(what);
  exit(1);
}

static void *read_blocks(void *number) {
  void *block = NULL;
  volatile uint64_t sum = 0;
  int file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
  check(path, file >= 0 && !posix_memalign(&block, BLOCK, BLOCK));
  for (;;) {
    pthread_barrier_wait(&begin);
    for (int i = 0; i < READS; i++) {
      off_t at = (off_t)((i * 7 + (intptr_t)number) % BLOCKS) * BLOCK;
      check("pread", pread(file, block, BLOCK, at) == BLOCK);
      for (int turn = 0; turn < 50000; turn++) sum += (uint64_t)turn;
    }
    pthread_barrier_wait(&end);
  }
  return NULL;
}

int main(int argc, char **argv) {
  cpu_set_t one;
  long threads = argc == 3 ? atol(argv[2]) : 0;
  check("usage: direct_reads FILE THREADS", threads > 0);
  path = argv[1];
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  check("sched_setaffinity", !sched_setaffinity(0, sizeof one, &one));
  pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
  for (intptr_t i = 0; i < threads; i++) {
    pthread_t thread;
    check("pthread_create", !pthread_create(&thread, NULL, read_blocks, (void *)i));
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
