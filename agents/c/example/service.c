/* An example: a service with a pool that tidscope reads and steers.
 *
 * Each line of its input is a number of requests to serve; it logs what it measured itself. Build it
 * with `cc -I.. -pthread service.c`, attach to it, and type numbers.
 */
#define TIDSCOPE_AGENT_IMPLEMENTATION
#include "tidscope_agent.h"

enum { THREADS = 16, LARGEST = 1 << 16 };

/* Requests that wait for a thread; the pool's places bound how many are served at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static tidscope_pool *pool;
static tidscope_job requests[LARGEST];
static int queued, taken, served;

/* Cumulative measurements that the service makes itself. */
static struct {
  unsigned long long failed, response_ns, queue_wait_ns, run_ns;
} totals;

static unsigned long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

/* Serve a request; every fiftieth fails. */
static int serve(int number, unsigned long long queued_ns) {
  unsigned long long started_ns = now_ns();
  struct timespec pause = {0, (1 + number % 3) * 1000000L};
  nanosleep(&pause, NULL);
  pthread_mutex_lock(&lock);
  totals.failed += number % 50 == 0;
  totals.response_ns += now_ns() - queued_ns;
  totals.queue_wait_ns += started_ns - queued_ns;
  totals.run_ns += now_ns() - started_ns;
  pthread_mutex_unlock(&lock);
  return number % 50 == 0;
}

static void *work(void *ignored) {
  (void)ignored;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (taken == queued) pthread_cond_wait(&changed, &lock);
    int number = taken++;
    tidscope_job job = requests[number];
    pthread_mutex_unlock(&lock);
    tidscope_begin(pool, &job);
    int failed = serve(number, job.queued_ns);
    tidscope_end(pool, job, failed);
    pthread_mutex_lock(&lock);
    served++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  char line[64];
  pool = tidscope_pool_new("requests", 4);
  if (tidscope_start(pool, 1, THREADS) != 0) fprintf(stderr, "%s\n", tidscope_error());
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
    pthread_detach(thread);
  }
  printf("ready %s\n", tidscope_path());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    pthread_mutex_lock(&lock);
    for (int count = atoi(line); count > 0 && queued < LARGEST; count--)
      requests[queued++] = tidscope_submit(pool);
    pthread_cond_broadcast(&changed);
    while (served < queued) pthread_cond_wait(&changed, &lock);
    printf("{\"finished\":%d,\"failed\":%llu,\"response_ns\":%llu,\"queue_wait_ns\":%llu,"
           "\"run_ns\":%llu}\n",
           served, totals.failed, totals.response_ns, totals.queue_wait_ns, totals.run_ns);
    pthread_mutex_unlock(&lock);
    fflush(stdout);
  }
  return 0;
}
