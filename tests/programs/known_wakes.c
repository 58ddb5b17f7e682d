/* Threads that wake each other a known number of times, and say how often and how long they waited.
 *
 * Each line on standard input names an experiment, which threads of its own live through; they are
 * parked until the next line, which lets them end. It answers with one line of JSON: of each thread
 * its id, how often the kernel says that it went to sleep (voluntary switches) and how long its
 * calls lasted by CLOCK_MONOTONIC; the address of the lock; and how many sleeps of a server each of
 * its clients ended: those whose request is the first that the server finds.
 *
 * ring: RING threads hand a byte around through pipes, ROUNDS times.
 * mutex: two threads take a mutex in turn and hold it while they sleep for HOLD_NS.
 * condition: two threads wake each other by a condition variable, ROUNDS times; who has the turn
 *   sleeps for NAP_NS without the mutex, so that the other waits at the condition, not at the mutex.
 * sleep: one thread sleeps ROUNDS times.
 * server: a thread waits with epoll for what CLIENTS others ask it through sockets, ROUNDS times each;
 *   they wait for each answer.
 * network: the same over TCP and the loopback device.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING = 5, CLIENTS = 3, ROUNDS = 400, HOLDS = 60, HOLD_NS = 3000000, NAP_NS = 100000 };

struct one {
  void (*live)(struct one *);
  int at, tid;
  long sleeps;
  int64_t in_call_ns;
  sem_t done, go;
  pthread_t thread;
};

static int pipes[RING][2], unix_links[CLIENTS][2], tcp_links[CLIENTS][2], turn;
static int (*links)[2]; /* of each client: its end, and the server's */
static long ended_by[CLIENTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static long sleeps(void) {
  struct rusage used;
  if (getrusage(RUSAGE_THREAD, &used)) die("getrusage");
  return used.ru_nvcsw;
}

static void nap(long ns) {
  struct timespec time = {.tv_nsec = ns};
  nanosleep(&time, NULL);
}

static void go_round(struct one *one) {
  char byte = 'x';
  for (int i = 0; i < ROUNDS; i++) {
    if (one->at == 0 && write(pipes[1][1], &byte, 1) != 1) die("write");
    int64_t before = now_ns();
    if (read(pipes[one->at][0], &byte, 1) != 1) die("read");
    one->in_call_ns += now_ns() - before;
    if (one->at && write(pipes[(one->at + 1) % RING][1], &byte, 1) != 1) die("write");
  }
}

static void hold(struct one *one) {
  for (int i = 0; i < HOLDS; i++) {
    int64_t before = now_ns();
    pthread_mutex_lock(&mutex);
    one->in_call_ns += now_ns() - before;
    nap(HOLD_NS);
    pthread_mutex_unlock(&mutex);
    nap(NAP_NS);
  }
}

static void take_turns(struct one *one) {
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&guard);
    int64_t before = now_ns();
    while (turn != one->at) pthread_cond_wait(&condition, &guard);
    one->in_call_ns += now_ns() - before;
    pthread_mutex_unlock(&guard);
    nap(NAP_NS);
    pthread_mutex_lock(&guard);
    turn = !one->at;
    pthread_mutex_unlock(&guard);
    pthread_cond_signal(&condition);
  }
}

static void sleep_often(struct one *one) {
  for (int i = 0; i < ROUNDS; i++) {
    int64_t before = now_ns();
    nap(NAP_NS);
    one->in_call_ns += now_ns() - before;
  }
}

static void answer(struct one *one) {
  struct epoll_event events[CLIENTS];
  char byte;
  int set = epoll_create1(0);
  for (int i = 0; i < CLIENTS; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = i}};
    ended_by[i] = 0;
    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, links[i][1], &event)) die("epoll");
  }
  for (int answered = 0; answered < CLIENTS * ROUNDS;) {
    long slept = sleeps();
    int64_t before = now_ns();
    int ready = epoll_wait(set, events, CLIENTS, -1);
    one->in_call_ns += now_ns() - before;
    if (sleeps() != slept) ended_by[events[0].data.u32]++;
    for (int i = 0; i < ready; i++, answered++) {
      int link = links[events[i].data.u32][1];
      if (recv(link, &byte, 1, 0) != 1 || send(link, &byte, 1, 0) != 1) die("answer");
    }
  }
  close(set);
}

static void ask_server(struct one *one) {
  int link = links[one->at - 1][0];
  char byte = 'x';
  for (int i = 0; i < ROUNDS; i++) {
    if (send(link, &byte, 1, 0) != 1) die("send");
    int64_t before = now_ns();
    if (recv(link, &byte, 1, 0) != 1) die("recv");
    one->in_call_ns += now_ns() - before;
  }
}

static void serve(struct one *one) {
  if (one->at)
    ask_server(one);
  else
    answer(one);
}

/* Connect two sockets over the loopback device. */
static void connect_pair(int pair[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (bind(listener, (void *)&address, length) || listen(listener, 1)) die("listen");
  if (getsockname(listener, (void *)&address, &length)) die("getsockname");
  pair[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(pair[0], (void *)&address, length)) die("connect");
  pair[1] = accept(listener, NULL, NULL);
  for (int i = 0; i < 2; i++)
    if (setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) die("setsockopt");
  close(listener);
}

/* All threads of an experiment begin together, without one of them waking another. */
static void begin(void) {
  for (atomic_fetch_sub(&ready, 1); atomic_load(&ready) > 0;) sched_yield();
}

static void *live(void *argument) {
  struct one *one = argument;
  one->tid = (int)syscall(SYS_gettid);
  begin();
  one->live(one);
  one->sleeps = sleeps();
  sem_post(&one->done);
  while (sem_wait(&one->go)) {}
  return NULL;
}

static const struct experiment {
  const char *name;
  void (*live)(struct one *);
  int threads;
  void *lock;
} experiments[] = {
    {"ring", go_round, RING, NULL},
    {"mutex", hold, 2, &mutex},
    {"condition", take_turns, 2, &condition},
    {"sleep", sleep_often, 1, NULL},
    {"server", serve, 1 + CLIENTS, NULL},
    {"network", serve, 1 + CLIENTS, NULL},
};

int main(void) {
  struct one *ones = NULL;
  int threads = 0;
  for (int i = 0; i < RING; i++)
    if (pipe(pipes[i])) die("pipe");
  for (int i = 0; i < CLIENTS; i++) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, unix_links[i])) die("socketpair");
    connect_pair(tcp_links[i]);
  }
  printf("{\"pid\":%d}\n", (int)getpid());
  fflush(stdout);
  for (char line[32]; fgets(line, sizeof line, stdin);) {
    for (int i = 0; i < threads; i++) {
      sem_post(&ones[i].go);
      pthread_join(ones[i].thread, NULL);
    }
    free(ones);
    line[strcspn(line, "\n")] = 0;
    const struct experiment *experiment = experiments;
    while (strcmp(experiment->name, line)) experiment++;
    threads = experiment->threads;
    links = strcmp(line, "network") ? unix_links : tcp_links;
    ones = calloc(threads, sizeof *ones);
    atomic_store(&ready, threads);
    for (int i = 0; i < threads; i++) {
      ones[i].live = experiment->live;
      ones[i].at = i;
      sem_init(&ones[i].done, 0, 0);
      sem_init(&ones[i].go, 0, 0);
      if (pthread_create(&ones[i].thread, NULL, live, &ones[i])) die("pthread_create");
    }
    printf("{\"address\":%" PRIuPTR ",\"threads\":[", (uintptr_t)experiment->lock);
    for (int i = 0; i < threads; i++) {
      while (sem_wait(&ones[i].done)) {}
      printf("%s{\"tid\":%d,\"sleeps\":%ld,\"in_call_ns\":%" PRId64 "}", i ? "," : "", ones[i].tid,
             ones[i].sleeps, ones[i].in_call_ns);
    }
    printf("],\"ended_by\":[");
    for (int i = 0; experiment->live == serve && i < CLIENTS; i++)
      printf("%s%ld", i ? "," : "", ended_by[i]);
    puts("]}");
    if (fflush(stdout)) die("stdout");
  }
  return 0;
}
