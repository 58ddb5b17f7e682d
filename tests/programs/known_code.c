/* Threads whose time in each function is known: see known_code.py.
 *
 * Built with -fomit-frame-pointer. Each function measures itself, so none ends with a call that the
 * compiler could make a jump.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3, MOST_BRIEF = 15 };
enum { WAIT_BRIEFLY, WAIT_LONGER, REST_BRIEFLY, REST_LONGER, COMPUTE_SOME, COMPUTE_MORE, CODES };
static const char *const code_names[CODES] = {"wait_briefly", "wait_longer",  "rest_briefly",
                                              "rest_longer",  "compute_some", "compute_more"};

struct account {
  int tid;
  int64_t ns[CODES];
};

static int64_t end_ns;

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static int64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
static struct timespec time_of(int64_t ns) {
  return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}
static int is_over(void) { return now_ns() >= __atomic_load_n(&end_ns, __ATOMIC_RELAXED); }

static void wait_for_ns(int64_t ns) {
  sem_t never;
  struct timespec until = time_of(now_ns() + ns);
  sem_init(&never, 0, 0);
  while (sem_clockwait(&never, CLOCK_MONOTONIC, &until) == 0) {}
}
static void rest_for_ns(int64_t ns) {
  struct timespec time = time_of(ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time)) {}
}
static void compute_for_ns(int64_t ns) {
  int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until) {}
}

#define CODE(name, number, what, ns_each)                               \
  static __attribute__((noinline)) void name(struct account *account) { \
    int64_t before = now_ns();                                          \
    what(ns_each);                                                      \
    account->ns[number] += now_ns() - before;                           \
  }
CODE(wait_briefly, WAIT_BRIEFLY, wait_for_ns, 400000)
CODE(wait_longer, WAIT_LONGER, wait_for_ns, 4000000)
CODE(rest_briefly, REST_BRIEFLY, rest_for_ns, 400000)
CODE(rest_longer, REST_LONGER, rest_for_ns, 4000000)
CODE(compute_some, COMPUTE_SOME, compute_for_ns, 1000000)
CODE(compute_more, COMPUTE_MORE, compute_for_ns, 3000000)

static void *work(void *argument) {
  struct account *account = argument;
  unsigned chance = account->tid = gettid();
  while (!is_over()) {
    for (int left = 1 + rand_r(&chance) % MOST_BRIEF; left; left--) {
      wait_briefly(account);
      rest_briefly(account);
    }
    wait_longer(account);
    rest_longer(account);
    compute_some(account);
    compute_more(account);
  }
  return NULL;
}

/* One thread waits for two others in turn, which release it after unequal times. */
static sem_t released, asked[2];
static int releaser, tids[2], waiter_tid, is_released;
static int64_t released_ns[2];

static __attribute__((noinline)) void post_soon(void) {
  releaser = 0;
  sem_post(&released);
  __asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void post_late(void) {
  releaser = 1;
  sem_post(&released);
  __asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void await_release(void) {
  int64_t before = now_ns();
  while (sem_wait(&released)) {}
  released_ns[releaser] += now_ns() - before;
}

static void *release(void *argument) {
  int which = argument != NULL;
  tids[which] = gettid();
  for (;;) {
    while (sem_wait(&asked[which])) {}
    if (__atomic_load_n(&is_released, __ATOMIC_RELAXED)) return NULL;
    rest_for_ns(which ? 4000000 : 1000000);
    if (which)
      post_late();
    else
      post_soon();
  }
}

static void *wait_in_turn(void *unused) {
  waiter_tid = gettid();
  for (int which = 0; !is_over(); which = !which) {
    sem_post(&asked[which]);
    await_release();
  }
  return unused;
}

static pthread_t start(void *(*what)(void *), void *with) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, what, with)) abort();
  return thread;
}

static void run(double seconds) {
  struct account accounts[WORKERS];
  pthread_t workers[WORKERS], waiter, releasers[2];
  memset(accounts, 0, sizeof accounts);
  memset(released_ns, 0, sizeof released_ns);
  sem_init(&released, 0, 0);
  is_released = 0;
  end_ns = now_ns() + (int64_t)(seconds * 1e9);
  for (int i = 0; i < WORKERS; i++) workers[i] = start(work, &accounts[i]);
  for (int i = 0; i < 2; i++) {
    sem_init(&asked[i], 0, 0);
    releasers[i] = start(release, i ? &asked : NULL);
  }
  waiter = start(wait_in_turn, NULL);
  pthread_join(waiter, NULL);
  __atomic_store_n(&is_released, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++) {
    sem_post(&asked[i]);
    pthread_join(releasers[i], NULL);
  }
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  printf("{\"workers\": {");
  for (int i = 0; i < WORKERS; i++) {
    printf("%s\"%d\": {", i ? ", " : "", accounts[i].tid);
    for (int code = 0; code < CODES; code++)
      printf("%s\"%s\": %" PRId64, code ? ", " : "", code_names[code], accounts[i].ns[code]);
    printf("}");
  }
  printf("}, \"waiter\": %d, \"released_ns\": {\"post_soon\": %" PRId64 ", \"post_late\": %" PRId64 "}",
         waiter_tid, released_ns[0], released_ns[1]);
  printf(", \"releasers\": {\"post_soon\": %d, \"post_late\": %d}}\n", tids[0], tids[1]);
  fflush(stdout);
}

int main(void) {
  double seconds;
  puts("ready");
  fflush(stdout);
  while (scanf("%lf", &seconds) == 1) run(seconds);
  return 0;
}
