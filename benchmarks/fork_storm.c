/*
 * fork_storm: starts and ends children one at a time, as fast as it can, until standard input ends.
 * fork_storm COUNT: starts COUNT children, up to 64 at a time; each computes for a moment.
 * fork_storm COUNT THREADS: starts COUNT children of THREADS threads, which wake up twice a second
 * and end when standard input does.
 * Without COUNT and with THREADS it prints "ready" once it has started.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 64

static void compute(int rounds) {
  for (volatile int round = 0; round < rounds; round++)
    ;
}

static void *wake_up(void *nothing) {
  const struct timespec half = {.tv_nsec = 500000000};

  for (;;) {
    nanosleep(&half, NULL);
    compute(1000);
  }
  return nothing;
}

static void live(int threads, int gate) {
  pthread_attr_t small;
  pthread_t thread;
  char byte;

  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int one = 1; one < threads; one++)
    if (pthread_create(&thread, &small, wake_up, NULL))
      exit(1);
  if (read(gate, &byte, 1) < 0)
    exit(1);
  exit(0);
}

static int fork_endlessly(void) {
  char byte;

  fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  puts("ready");
  fflush(stdout);
  while (read(STDIN_FILENO, &byte, 1) < 0) {
    pid_t child = fork();

    if (!child)
      _exit(0);
    if (child < 0)
      return 1;
    waitpid(child, NULL, 0);
  }
  return 0;
}

int main(int count, char **words) {
  int children = count > 1 ? atoi(words[1]) : 0, threads = count > 2 ? atoi(words[2]) : 0;
  int under_way = 0, gate[2];
  char line[64];

  if (count == 1)
    return fork_endlessly();
  if (pipe(gate))
    return 1;
  for (int child = 0; child < children; child++) {
    pid_t made = fork();

    if (made < 0)
      return 1;
    if (!made) {
      if (threads) {
        close(gate[1]);
        live(threads, gate[0]);
      }
      compute(20000);
      _exit(0);
    }
    if (!threads && ++under_way == AT_ONCE && wait(NULL) > 0)
      under_way--;
  }
  if (threads) {
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
      line[0] = 0;
    close(gate[1]);
  }
  while (wait(NULL) > 0)
    ;
  return 0;
}
