/* A program whose threads do known amounts of work, one phase a command.
 *
 * Commands are single letters on standard input; each is answered, after the work is done, by one
 * line of JSON on standard output. A thread reports its own account of itself (getrusage
 * RUSAGE_THREAD and CLOCK_THREAD_CPUTIME_ID), taken as the last thing it does before it goes to
 * sleep or ends, so that a test can compare an outside account with it and needs no sleeping.
 *
 *   b  "burner" uses burn-ms of CPU time
 *   w  "writer" writes write-bytes to a file in pieces of 64 KiB and syncs it
 *   r  "renamer" gives itself the next name: renamed-1, renamed-2, ...
 *   s  short-threads threads named "short" start, each uses short-us of CPU time and ends
 *   n  one more thread, "extra", starts and stays
 *   e  the oldest "extra" ends
 *   z  the main thread ends and leaves the reading of commands to a thread named "heir"
 *   x  the program executes itself again: same process, all other threads gone
 *   p  the accounts of the process as a whole
 *   q  all threads end, the accounts of the process are given, exit code 7
 *
 * "sleeper" sleeps from beginning to end. End of input is like q with exit code 3.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BURNER, WRITER, RENAMER, SLEEPER, HANDS, MAX_EXTRA = 64, AT_ONCE = 20 };

struct account {
  int tid;
  char name[16];
  int64_t cpu_ns;
  struct rusage usage;
};

struct hand {
  const char *name;
  int (*work)(void); /* 0: done, go on; else: end the thread */
  pthread_t thread;
  sem_t go, done;
  struct account account;
};

static long burn_ms = 1000, write_bytes = 8 << 20, short_threads = 300, short_us = 1000;
static const char *file_path;
static char **arguments;
static int ending, renames, extras_begun, extras_ended;
static struct hand extras[MAX_EXTRA];

static void die(const char *what) {
  perror(what);
  _exit(1);
}

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now)) die("clock_gettime");
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void burn_until(int64_t cpu_ns) {
  volatile uint64_t sink = 1;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < cpu_ns)
    for (int i = 0; i < 1000; i++) sink = sink * 2862933555777941757u + 3037000493u;
}

static void take_account(struct account *account) {
  account->tid = (int)syscall(SYS_gettid);
  if (prctl(PR_GET_NAME, account->name)) die("prctl");
  if (getrusage(RUSAGE_THREAD, &account->usage)) die("getrusage");
  account->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int burn(void) {
  burn_until(clock_ns(CLOCK_THREAD_CPUTIME_ID) + burn_ms * 1000000);
  return 0;
}

static int write_file(void) {
  static char piece[64 << 10];
  memset(piece, 'w', sizeof piece);
  int file = open(file_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) die(file_path);
  for (long left = write_bytes; left > 0;) {
    size_t size = left < (long)sizeof piece ? (size_t)left : sizeof piece;
    ssize_t written = write(file, piece, size);
    if (written < 0) die("write");
    left -= written;
  }
  if (fsync(file) || close(file)) die("fsync");
  return 0;
}

static int rename_self(void) {
  char name[16];
  snprintf(name, sizeof name, "renamed-%d", ++renames % 1000);
  return prctl(PR_SET_NAME, name);
}

static int nothing(void) { return 0; }

static int end(void) { return 1; }

static void *work(void *argument) {
  struct hand *hand = argument;
  prctl(PR_SET_NAME, hand->name);
  take_account(&hand->account);
  sem_post(&hand->done);
  for (;;) {
    while (sem_wait(&hand->go)) {}
    int last = ending || hand->work();
    take_account(&hand->account);
    sem_post(&hand->done);
    if (last) return NULL;
  }
}

static void begin(struct hand *hand, const char *name, int (*task)(void)) {
  hand->name = name;
  hand->work = task;
  sem_init(&hand->go, 0, 0);
  sem_init(&hand->done, 0, 0);
  if (pthread_create(&hand->thread, NULL, work, hand)) die("pthread_create");
  while (sem_wait(&hand->done)) {}
}

static void let_work(struct hand *hand) {
  sem_post(&hand->go);
  while (sem_wait(&hand->done)) {}
}

static void finish(struct hand *hand) {
  let_work(hand);
  pthread_join(hand->thread, NULL);
}

static void *be_short(void *argument) {
  prctl(PR_SET_NAME, "short");
  burn_until(short_us * 1000);
  take_account(argument);
  return NULL;
}

static int64_t microseconds(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

static void print_account(const struct account *account) {
  const struct rusage *usage = &account->usage;
  printf("{\"tid\":%d,\"name\":\"%s\",\"cpu_ns\":%" PRId64 ",\"user_us\":%" PRId64
         ",\"system_us\":%" PRId64 ",\"voluntary_switches\":%ld,\"involuntary_switches\":%ld,"
         "\"minor_faults\":%ld,\"major_faults\":%ld,\"blocks_in\":%ld,\"blocks_out\":%ld}",
         account->tid, account->name, account->cpu_ns, microseconds(usage->ru_utime),
         microseconds(usage->ru_stime), usage->ru_nvcsw, usage->ru_nivcsw, usage->ru_minflt,
         usage->ru_majflt, usage->ru_inblock, usage->ru_oublock);
}

static void begin_answer(const char *event) {
  printf("{\"event\":\"%s\",\"pid\":%d,\"threads\":[", event, (int)getpid());
}

static void end_answer(void) {
  struct account process = {.tid = (int)getpid(), .name = "process"};
  if (getrusage(RUSAGE_SELF, &process.usage)) die("getrusage");
  process.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  printf("],\"process\":");
  print_account(&process);
  puts("}");
  if (fflush(stdout)) die("stdout");
}

static void answer(const char *event, const struct account *account) {
  begin_answer(event);
  if (account) print_account(account);
  end_answer();
}

static void run_short_threads(void) {
  struct account *accounts = calloc((size_t)short_threads, sizeof *accounts);
  pthread_t threads[AT_ONCE];
  for (long first = 0; first < short_threads; first += AT_ONCE) {
    long count = short_threads - first < AT_ONCE ? short_threads - first : AT_ONCE;
    for (long i = 0; i < count; i++)
      if (pthread_create(&threads[i], NULL, be_short, &accounts[first + i])) die("pthread_create");
    for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
  }
  begin_answer("shorts_ended");
  for (long i = 0; i < short_threads; i++) {
    if (i) putchar(',');
    print_account(&accounts[i]);
  }
  end_answer();
  free(accounts);
}

static void end_all(struct hand *hands, int code) {
  struct account self;
  ending = 1;
  for (int i = 0; i < HANDS; i++) finish(&hands[i]);
  while (extras_ended < extras_begun) finish(&extras[extras_ended++]);
  take_account(&self);
  begin_answer("ended");
  for (int i = 0; i < HANDS; i++) {
    print_account(&hands[i].account);
    putchar(',');
  }
  print_account(&self);
  end_answer();
  exit(code);
}

static void *inherit(void *hands);

static void obey(struct hand *hands) {
  for (int command; (command = getchar()) != EOF;) switch (command) {
      case 'b':
        let_work(&hands[BURNER]);
        answer("burned", &hands[BURNER].account);
        break;
      case 'w':
        let_work(&hands[WRITER]);
        answer("written", &hands[WRITER].account);
        break;
      case 'r':
        let_work(&hands[RENAMER]);
        answer("renamed", &hands[RENAMER].account);
        break;
      case 's':
        run_short_threads();
        break;
      case 'n':
        if (extras_begun == MAX_EXTRA) die("too many extra threads");
        begin(&extras[extras_begun], "extra", end);
        answer("extra_begun", &extras[extras_begun++].account);
        break;
      case 'e':
        if (extras_ended == extras_begun) die("no extra thread");
        finish(&extras[extras_ended]);
        answer("extra_ended", &extras[extras_ended++].account);
        break;
      case 'z': {
        pthread_t heir;
        if (pthread_create(&heir, NULL, inherit, hands)) die("pthread_create");
        pthread_exit(NULL);
      }
      case 'x':
        execv("/proc/self/exe", arguments);
        die("execv");
        break;
      case 'p':
        answer("accounts", NULL);
        break;
      case 'q':
        end_all(hands, 7);
        break;
      default:
        fprintf(stderr, "unknown command %c\n", command);
        exit(2);
    }
  end_all(hands, 3);
}

static void *inherit(void *hands) {
  struct account self;
  prctl(PR_SET_NAME, "heir");
  take_account(&self);
  answer("inherited", &self);
  obey(hands);
  return NULL;
}

static long positive(const char *text) {
  long number = strtol(text, NULL, 10);
  if (number <= 0) {
    fprintf(stderr, "not a positive number: %s\n", text);
    exit(2);
  }
  return number;
}

static void read_arguments(int count, char **values) {
  static const struct option options[] = {{"burn-ms", 1, NULL, 'b'},
                                          {"file", 1, NULL, 'f'},
                                          {"write-bytes", 1, NULL, 'w'},
                                          {"short-threads", 1, NULL, 's'},
                                          {"short-us", 1, NULL, 'u'},
                                          {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(count, values, "", options, NULL)) != -1;) switch (option) {
      case 'b': burn_ms = positive(optarg); break;
      case 'f': file_path = optarg; break;
      case 'w': write_bytes = positive(optarg); break;
      case 's': short_threads = positive(optarg); break;
      case 'u': short_us = positive(optarg); break;
      default: exit(2);
    }
  if (!file_path) {
    fprintf(stderr, "--file is missing\n");
    exit(2);
  }
}

int main(int count, char **values) {
  static struct hand hands[HANDS];
  struct account self;
  arguments = values;
  read_arguments(count, values);
  /* Unbuffered input: what was not read yet survives an exec. */
  setvbuf(stdin, NULL, _IONBF, 0);
  begin(&hands[BURNER], "burner", burn);
  begin(&hands[WRITER], "writer", write_file);
  begin(&hands[RENAMER], "renamer", rename_self);
  begin(&hands[SLEEPER], "sleeper", nothing);
  take_account(&self);
  begin_answer("ready");
  for (int i = 0; i < HANDS; i++) {
    print_account(&hands[i].account);
    putchar(',');
  }
  print_account(&self);
  end_answer();
  obey(hands);
}
