/*
 * A thread that is not the first one executes the program again. Waits for a line; the first thread
 * sends 5 bytes, another one 70; that one executes this program with "second", which says
 * "executed", waits for a line and sends 300.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char **words;

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

static void *other(void *given) {
  send_some(70);
  execl("/proc/self/exe", words[0], "second", NULL);
  perror("exec");
  exit(1);
  return given;
}

int main(int count, char **given) {
  pthread_t thread;

  words = given;
  setbuf(stdout, NULL);
  if (count > 1 && given[1][0] == 's') {
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
