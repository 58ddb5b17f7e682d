/* Two threads that wait for each other's mutex, one behind them, and three idle ones at a condition.
 *
 * "ready" on standard output says that all wait. The main thread waits for a signal.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { IDLE = 3 };

static pthread_mutex_t first_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t work_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both, all;

static void *take(void *is_second) {
  pthread_mutex_t *own = is_second ? &second_mutex : &first_mutex;
  prctl(PR_SET_NAME, is_second ? "second" : "first");
  pthread_mutex_lock(own);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&all);
  pthread_mutex_lock(is_second ? &first_mutex : &second_mutex);
  return NULL;
}

static void *wait_behind(void *unused) {
  prctl(PR_SET_NAME, "behind");
  pthread_barrier_wait(&all);
  pthread_mutex_lock(&first_mutex);
  return unused;
}

static void *wait_for_work(void *unused) {
  prctl(PR_SET_NAME, "idle");
  pthread_barrier_wait(&all);
  pthread_mutex_lock(&work_mutex);
  for (;;) pthread_cond_wait(&work, &work_mutex);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&both, NULL, 2);
  pthread_barrier_init(&all, NULL, 4 + IDLE);
  pthread_create(&thread, NULL, take, NULL);
  pthread_create(&thread, NULL, take, (void *)1);
  pthread_create(&thread, NULL, wait_behind, NULL);
  for (int i = 0; i < IDLE; i++) pthread_create(&thread, NULL, wait_for_work, NULL);
  pthread_barrier_wait(&all);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
