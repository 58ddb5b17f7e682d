/* Threads that live for a moment: each line on standard input, "COUNT NS", runs so many, eight at a
 * time, each of which computes for so long; "done" is the answer. Ends with its standard input.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 8 };

static sem_t room;
static int64_t work_ns;

static int64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *live(void *unused) {
  while (cpu_ns() < work_ns) {}
  sem_post(&room);
  return unused;
}

int main(void) {
  long count;
  puts("ready");
  fflush(stdout);
  while (scanf("%ld %" SCNd64, &count, &work_ns) == 2) {
    pthread_attr_t apart;
    pthread_t thread;
    sem_init(&room, 0, WIDTH);
    pthread_attr_init(&apart);
    pthread_attr_setdetachstate(&apart, PTHREAD_CREATE_DETACHED);
    for (long i = 0; i < count; i++) {
      while (sem_wait(&room)) {}
      if (pthread_create(&thread, &apart, live, NULL)) abort();
    }
    for (int i = 0; i < WIDTH; i++)
      while (sem_wait(&room)) {}
    puts("done");
    fflush(stdout);
  }
  return 0;
}
