/*
 * Does nothing but socket calls, for benchmarks/netacct.py.
 *
 *   socket_load MODE SECONDS    waits for a line, works until it has had so much CPU time, prints
 *                               what it did as JSON, waits for a line again, and so on until the
 *                               input ends
 *
 * MODE stream: two threads, 128 KiB a call over TCP, as iperf3 does. server: answers requests of
 * 200 bytes from 8 connections with 1,000 bytes, over TCP with epoll; a child asks. requests: two
 * threads ask and answer each other. datagrams: one thread sends 64 bytes to itself and receives
 * them, over and over: the cheapest socket calls there are.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 8

static char data[128 << 10];
static bool ending;

static void must(bool good, const char *what) {
  if (!good) {
    perror(what);
    exit(1);
  }
}

static double now(clockid_t clock) {
  struct timespec at;

  clock_gettime(clock, &at);
  return at.tv_sec + at.tv_nsec / 1e9;
}

static void all(int fd, size_t bytes, bool sends) {
  while (bytes) {
    ssize_t moved = sends ? send(fd, data, bytes, MSG_NOSIGNAL) : recv(fd, data, bytes, 0);

    if (moved <= 0) {
      must(ending, "socket call");
      return;
    }
    bytes -= moved;
  }
}

static void connect_pair(int ends[2]) {
  struct sockaddr_in here = {.sin_family = AF_INET};
  socklen_t length = sizeof(here);
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(!bind(listener, (struct sockaddr *)&here, sizeof(here)) && !listen(listener, 1), "listen");
  getsockname(listener, (struct sockaddr *)&here, &length);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  must(!connect(ends[0], (struct sockaddr *)&here, length), "connect");
  ends[1] = accept(listener, NULL, NULL);
  close(listener);
  for (int i = 0; i < 2; i++)
    setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void *answer(void *given) {
  int fd = *(int *)given;

  while (!ending) {
    all(fd, 200, false);
    all(fd, 1000, true);
  }
  return NULL;
}

static void *swallow(void *given) {
  while (recv(*(int *)given, data, sizeof(data), 0) > 0)
    ;
  return NULL;
}

/* Asks on all connections, then takes all answers. */
static void ask_for_ever(int ends[CONNECTIONS][2]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    for (int i = 0; i < CONNECTIONS; i++)
      all(ends[i][0], 200, true);
    for (int i = 0; i < CONNECTIONS; i++)
      all(ends[i][0], 1000, false);
  }
}

/* Answers what has come. */
static long serve(int poller) {
  struct epoll_event ready[CONNECTIONS];
  int count = epoll_wait(poller, ready, CONNECTIONS, 1000);

  for (int i = 0; i < count; i++) {
    unsigned sum = 0;

    all(ready[i].data.fd, 200, false);
    for (int at = 0; at < 200; at++)
      sum = sum * 31 + data[at];
    data[0] = sum;
    all(ready[i].data.fd, 1000, true);
  }
  return count;
}

static int open_server(void) {
  static int ends[CONNECTIONS][2];
  int poller = epoll_create1(0);

  for (int i = 0; i < CONNECTIONS; i++) {
    struct epoll_event wanted = {.events = EPOLLIN};

    connect_pair(ends[i]);
    wanted.data.fd = ends[i][1];
    must(!epoll_ctl(poller, EPOLL_CTL_ADD, ends[i][1], &wanted), "epoll");
  }
  if (!fork())
    ask_for_ever(ends);
  return poller;
}

static void open_datagrams(int ends[2]) {
  struct sockaddr_in here = {.sin_family = AF_INET};
  socklen_t length = sizeof(here);

  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ends[0] = socket(AF_INET, SOCK_DGRAM, 0);
  must(!bind(ends[0], (struct sockaddr *)&here, sizeof(here)), "bind");
  getsockname(ends[0], (struct sockaddr *)&here, &length);
  must(!connect(ends[0], (struct sockaddr *)&here, length), "connect");
}

int main(int count, char **words) {
  char line[16], mode;
  int ends[2], poller = -1;
  pthread_t other;
  double seconds;

  must(count == 3, "usage: socket_load server|stream|requests|datagrams SECONDS");
  mode = words[1][1];
  seconds = atof(words[2]);
  if (mode == 'e' && words[1][0] == 's')
    poller = open_server();
  else if (mode == 'a')
    open_datagrams(ends);
  else {
    connect_pair(ends);
    pthread_create(&other, NULL, mode == 'e' ? answer : swallow, &ends[1]);
  }
  while (fgets(line, sizeof(line), stdin)) {
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    long done = 0;

    while (now(CLOCK_PROCESS_CPUTIME_ID) - cpu < seconds) {
      for (int i = 0; i < 100; i++) {
        if (poller >= 0) {
          done += serve(poller);
          continue;
        }
        if (mode == 'a') {
          all(ends[0], 64, true);
          all(ends[0], 64, false);
        } else if (mode == 'e') {
          all(ends[0], 200, true);
          all(ends[0], 1000, false);
        } else {
          all(ends[0], sizeof(data), true);
        }
        done++;
      }
    }
    printf("{\"done\":%ld,\"wall_s\":%.6f,\"cpu_s\":%.6f}\n", done, now(CLOCK_MONOTONIC) - wall,
           now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    fflush(stdout);
  }
  _exit(0);
}
