/* Many threads: each line on standard input, "COUNT SECONDS", runs so many, half of which sleep in
 * rest() and half wait in await(), a few milliseconds each time; "done" is the answer. Before, one
 * thread sleeps in sleep_long() for ever, and one waits in hold_on() for ever.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static __attribute__((noinline)) int rest(void) {
  int failed = usleep(5000);
  __asm__ volatile("" ::: "memory"); /* The call is not the last thing, which would be a jump. */
  return failed;
}

static __attribute__((noinline)) int await(void) {
  sem_t never;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 5000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  sem_init(&never, 0, 0);
  return sem_clockwait(&never, CLOCK_MONOTONIC, &until) + 1;
}

static void *live(void *which) {
  int64_t end = now_ns() + (int64_t)(seconds * 1e9);
  do {
    if (which ? rest() : await()) abort();
  } while (now_ns() < end);
  return NULL;
}

static __attribute__((noinline)) void *sleep_long(void *unused) {
  while (sleep(1000000)) {}
  return unused;
}

static __attribute__((noinline)) void *hold_on(void *unused) {
  sem_t never;
  sem_init(&never, 0, 0);
  while (sem_wait(&never)) {}
  return unused;
}

static pthread_t start(void *(*what)(void *), void *with) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  if (pthread_create(&thread, &small, what, with)) abort();
  return thread;
}

int main(void) {
  int count;
  start(sleep_long, NULL);
  start(hold_on, NULL);
  puts("ready");
  fflush(stdout);
  while (scanf("%d %lf", &count, &seconds) == 2) {
    pthread_t *threads = calloc(count, sizeof *threads);
    for (int i = 0; i < count; i++) threads[i] = start(live, i % 2 ? &count : NULL);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    free(threads);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
