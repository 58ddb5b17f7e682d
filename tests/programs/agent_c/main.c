/* A program with the C agent, driven by lines at its standard input; each gets an answer.
 *
 * ops N      do N jobs                  -> ops N
 * busy N     how many can work at once  -> busy M
 * restart    ask for a new search       -> restart
 * close      end the agent              -> close
 *
 * It is C11 and C++17. Its eight threads take jobs from a queue; the pool's places bound how many run.
 */
#define TIDSCOPE_AGENT_IMPLEMENTATION
#include "tidscope_agent.h"

enum { THREADS = 8, QUEUE = 1 << 14, PATIENCE_S = 120 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static tidscope_pool *pool;
static tidscope_job queue[QUEUE];
static int queued, taken, done;

/* Barrier at which jobs of `busy` meet. */
static int together, waiting, rounds, running, most, late;

/* Wait until as many jobs as `together` run at once; a job that waited in vain is late. */
static void meet(void) {
  int round = rounds;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += PATIENCE_S;
  if (++running > most) most = running;
  if (++waiting == together) {
    waiting = 0;
    rounds++;
    pthread_cond_broadcast(&changed);
  }
  while (rounds == round)
    if (pthread_cond_timedwait(&changed, &lock, &end) != 0) {
      late++;
      break;
    }
  running--;
}

static void *work(void *ignored) {
  (void)ignored;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (taken == queued) pthread_cond_wait(&changed, &lock);
    tidscope_job job = queue[taken++ % QUEUE];
    pthread_mutex_unlock(&lock);
    tidscope_begin(pool, &job);
    pthread_mutex_lock(&lock);
    if (together) meet();
    pthread_mutex_unlock(&lock);
    tidscope_end(pool, job, 0);
    pthread_mutex_lock(&lock);
    done++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

/* Do so many jobs, at least `at_once` of them together if that is not 0. */
static void run(int count, int at_once) {
  pthread_mutex_lock(&lock);
  together = at_once;
  waiting = running = most = late = 0;
  for (int i = 0; i < count; i++) queue[queued++ % QUEUE] = tidscope_submit(pool);
  pthread_cond_broadcast(&changed);
  while (done < queued) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  char line[64];
  pool = tidscope_pool_new("pool", 3);
  if (tidscope_start(pool, 1, 8) != 0) {
    printf("failed: %s\n", tidscope_error());
    return 0;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
    pthread_detach(thread);
  }
  printf("ready %s\n", tidscope_path());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    int number = 0;
    if (sscanf(line, "ops %d", &number) == 1) {
      run(number, 0);
      printf("ops %d\n", number);
    } else if (sscanf(line, "busy %d", &number) == 1) {
      run(4 * number, number);
      printf("busy %d\n", late ? 0 : most);
    } else if (strcmp(line, "restart\n") == 0) {
      tidscope_restart_search();
      printf("restart\n");
    } else if (strcmp(line, "close\n") == 0) {
      tidscope_close();
      printf("close\n");
    }
    fflush(stdout);
  }
  return 0;
}
