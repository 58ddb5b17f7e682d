/*
 * A thread that is not the first one executes the program again: exec_elsewhere [MILLISECONDS]. Waits
 * for a line; the first thread sends 5 bytes, another one 70; that one computes for so many
 * milliseconds, does more of everything than the first thread, and waits for a line, if they are given,
 * and executes this program with "second", which computes as long, says "executed", waits for a line
 * and sends 300. The program has one name all along.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char **words;
static long milliseconds;

static void compute(void) {
  struct timespec now, end;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  end.tv_sec = now.tv_sec + (now.tv_nsec / 1000000 + milliseconds) / 1000;
  end.tv_nsec = (now.tv_nsec / 1000000 + milliseconds) % 1000 * 1000000;
  while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec))
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

static void send_some(size_t bytes) {
  struct sockaddr_in here = {.sin_family = AF_INET};
  socklen_t length = sizeof(here);
  char data[300] = {0};
  int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (made < 0 || bind(made, (struct sockaddr *)&here, sizeof(here)) ||
      getsockname(made, (struct sockaddr *)&here, &length) ||
      sendto(made, data, bytes, 0, (struct sockaddr *)&here, length) != (ssize_t)bytes) {
    perror("send");
    exit(1);
  }
  close(made);
}

static void wait_for_line(void) {
  char c;

  while (read(0, &c, 1) == 1 && c != '\n')
    ;
}

/* Faults, reads, writes and switches, so that no counter tells the two threads apart by falling. */
static void do_more(void) {
  enum { PAGES = 4096, PAGE = 4096, CALLS = 5000, PAUSES = 200 };
  char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int from = open("/dev/zero", O_RDONLY | O_CLOEXEC), to = open("/dev/null", O_WRONLY | O_CLOEXEC);

  if (memory == MAP_FAILED || from < 0 || to < 0)
    abort();
  for (int page = 0; page < PAGES; page++)
    memory[page * PAGE] = 1;
  for (int call = 0; call < CALLS; call++)
    if (read(from, memory, PAGE) != PAGE || write(to, memory, PAGE) != PAGE)
      abort();
  for (int pause = 0; pause < PAUSES; pause++)
    usleep(100);
}

static void *other(void *given) {
  send_some(70);
  if (milliseconds) {
    compute();
    do_more();
    puts("computed");
    wait_for_line();
  }
  execl("/proc/self/exe", words[0], "second", milliseconds ? words[1] : NULL, NULL);
  perror("exec");
  exit(1);
  return given;
}

int main(int count, char **given) {
  pthread_t thread;

  words = given;
  setbuf(stdout, NULL);
  if (count > 1) {
    prctl(PR_SET_NAME, "exe");
    milliseconds = atol(given[count - 1]);
  }
  if (count > 1 && given[1][0] == 's') {
    compute();
    puts("executed");
    wait_for_line();
    send_some(300);
    puts("sent 300");
    wait_for_line();
    return 0;
  }
  wait_for_line();
  send_some(5);
  pthread_create(&thread, NULL, other, NULL);
  pause();
  return 0;
}
