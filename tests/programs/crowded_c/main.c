/* A steered pool whose jobs only wait, and get in each other's way.
 *
 *   crowded_c PLACES LARGEST    works until its standard input ends
 *
 * With n jobs at once each waits 7.3 ms and 0.22 ms times the square of n: 6 do most.
 */
#define TIDSCOPE_AGENT_IMPLEMENTATION
#include "tidscope_agent.h"

static tidscope_pool *pool;
static int running;

static void *work(void *ignored) {
  (void)ignored;
  for (;;) {
    tidscope_job job = tidscope_enter(pool);
    double together = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
    struct timespec pause = {0, (long)((7.3 + 0.22 * together * together) * 1e6)};
    nanosleep(&pause, NULL);
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
    tidscope_end(pool, job, 0);
  }
  return NULL;
}

int main(int count, char **arguments) {
  int places = count == 3 ? atoi(arguments[1]) : 0, largest = places ? atoi(arguments[2]) : 0;
  if (places < 1 || largest < places) {
    fprintf(stderr, "usage: crowded_c PLACES LARGEST\n");
    return 1;
  }
  pool = tidscope_pool_new("crowded", (unsigned)places);
  if (tidscope_start(pool, 1, (unsigned)largest) != 0) {
    fprintf(stderr, "%s\n", tidscope_error());
    return 1;
  }
  for (int i = 0; i < largest; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
    pthread_detach(thread);
  }
  printf("ready %s\n", tidscope_path());
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 0;
}
