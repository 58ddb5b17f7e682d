/* A program whose threads spend their time in known ways.
 *
 * "g" on standard input lets all hands work for run-ms at once; each then sleeps again. The answer is
 * one line of JSON: how long each worked by CLOCK_MONOTONIC, and its CPU time meanwhile. "q" or the
 * end of input ends the program. With --forever they work from the start until they are killed.
 *
 *   burner        computes
 *   crowd-1, -2, … computes, all pinned to one CPU: they wait for it most of the time
 *   disk          writes blocks past the page cache and waits for each to be on the disk
 *   sleeper       sleeps
 *   napper        computes for a millisecond and sleeps for nine
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, BLOCKS = 64, MAX_HANDS = 32, MS = 1000000 };

struct hand {
  char name[16];
  void (*work)(int64_t until_ns);
  int tid;
  int64_t worked_ns, cpu_ns;
  pthread_t thread;
  sem_t go, done;
};

static struct hand hands[MAX_HANDS];
static int count, crowd = 4, pinned_cpu;
static long run_ms = 1000;
static const char *file_path;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now)) die("clock_gettime");
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void compute_until(int64_t until_ns) {
  volatile uint64_t sink = 1;
  while (clock_ns(CLOCK_MONOTONIC) < until_ns)
    for (int i = 0; i < 1000; i++) sink = sink * 2862933555777941757u + 3037000493u;
}

static void crowd_until(int64_t until_ns) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(pinned_cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one)) die("sched_setaffinity");
  compute_until(until_ns);
}

static void write_until(int64_t until_ns) {
  void *block;
  if (posix_memalign(&block, 4096, BLOCK)) die("posix_memalign");
  memset(block, 'w', BLOCK);
  int file = open(file_path, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
  if (file < 0) die(file_path);
  for (int i = 0; clock_ns(CLOCK_MONOTONIC) < until_ns; i = (i + 1) % BLOCKS) {
    if (pwrite(file, block, BLOCK, (off_t)i * BLOCK) != BLOCK) die("pwrite");
    if (fdatasync(file)) die("fdatasync");
  }
  if (close(file)) die("close");
  free(block);
}

static void sleep_until(int64_t until_ns) {
  struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
}

static void nap_until(int64_t until_ns) {
  for (int64_t now; (now = clock_ns(CLOCK_MONOTONIC)) < until_ns;) {
    compute_until(now + MS);
    sleep_until(now + 10 * MS < until_ns ? now + 10 * MS : until_ns);
  }
}

static _Noreturn void *live(void *argument) {
  struct hand *hand = argument;
  hand->tid = (int)syscall(SYS_gettid);
  prctl(PR_SET_NAME, hand->name);
  sem_post(&hand->done);
  for (;;) {
    while (sem_wait(&hand->go)) {}
    int64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    hand->work(wall + run_ms * MS);
    hand->worked_ns = clock_ns(CLOCK_MONOTONIC) - wall;
    hand->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    sem_post(&hand->done);
  }
}

static void hire(const char *name, int number, void (*work)(int64_t)) {
  struct hand *hand = &hands[count++];
  if (number)
    snprintf(hand->name, sizeof hand->name, "%.8s-%d", name, number);
  else
    snprintf(hand->name, sizeof hand->name, "%.15s", name);
  hand->work = work;
  sem_init(&hand->go, 0, 0);
  sem_init(&hand->done, 0, 0);
  if (pthread_create(&hand->thread, NULL, live, hand)) die("pthread_create");
  while (sem_wait(&hand->done)) {}
}

static void work_all(void) {
  for (int i = 0; i < count; i++) sem_post(&hands[i].go);
  for (int i = 0; i < count; i++)
    while (sem_wait(&hands[i].done)) {}
}

static void answer(const char *event) {
  printf("{\"event\":\"%s\",\"pid\":%d,\"threads\":[", event, (int)getpid());
  for (int i = 0; i < count; i++)
    printf("%s{\"tid\":%d,\"name\":\"%s\",\"worked_ns\":%" PRId64 ",\"cpu_ns\":%" PRId64 "}",
           i ? "," : "", hands[i].tid, hands[i].name, hands[i].worked_ns, hands[i].cpu_ns);
  puts("]}");
  if (fflush(stdout)) die("stdout");
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"run-ms", 1, NULL, 'r'},
                                          {"file", 1, NULL, 'f'},
                                          {"crowd", 1, NULL, 'c'},
                                          {"cpu", 1, NULL, 'p'},
                                          {"forever", 0, NULL, 'e'},
                                          {NULL, 0, NULL, 0}};
  int forever = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) switch (option) {
      case 'r': run_ms = strtol(optarg, NULL, 10); break;
      case 'f': file_path = optarg; break;
      case 'c': crowd = (int)strtol(optarg, NULL, 10); break;
      case 'p': pinned_cpu = (int)strtol(optarg, NULL, 10); break;
      case 'e': forever = 1; break;
      default: exit(2);
    }
  if (crowd < 1 || crowd > 16 || run_ms < 1) exit(2);
  hire("burner", 0, compute_until);
  for (int i = 1; i <= crowd; i++) hire("crowd", i, crowd_until);
  if (file_path) hire("disk", 0, write_until);
  hire("sleeper", 0, sleep_until);
  hire("napper", 0, nap_until);
  answer("ready");
  while (forever) work_all();
  for (int command; (command = getchar()) == 'g' || command == '\n';) {
    if (command != 'g') continue;
    work_all();
    answer("worked");
  }
  return 0;
}
