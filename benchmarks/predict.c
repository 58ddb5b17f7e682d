/*
 * Cost of a prediction, for benchmarks/predict.py: SOCKET FEATURES. Each line on standard input
 * is answered by one round, a line of nanoseconds a prediction: in shared memory, one after the other,
 * and with each question depending on the answer before; behind the cheapest system call there is;
 * behind one that reads (pread of 64 bytes); asked over the socket.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "tidscope_predict.h"

enum { QUESTIONS = 4096, PREDICTIONS = 1 << 19, CALLS = 1 << 16, ASKED = 1 << 11 };

static int64_t questions[QUESTIONS][TIDSCOPE_FEATURES];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Called through a pointer, like a library function, so never inlined. */
static int (*volatile predict)(const struct tidscope_model *, const int64_t *, int) =
    tidscope_predict;

static int ask(struct tidscope_model *model, const int64_t *features, int len) {
  unsigned char packet[9 + 8 * TIDSCOPE_FEATURES], *at = packet, body[4];
  int32_t sum;
  tidscope_put(&at, 1, 2);
  tidscope_put(&at, 4, 2);
  tidscope_put(&at, model->handle, 4);
  tidscope_put(&at, (unsigned)len, 1);
  memcpy(at, features, 8 * (size_t)len);
  if (tidscope_ask(model, packet, 9 + 8 * (size_t)len, body, 4, NULL) != 4) abort();
  memcpy(&sum, body, 4);
  return sum;
}

int main(int argc, char **argv) {
  struct tidscope_model model;
  char line[16];
  long sum = 0;
  uint64_t seed = 1;
  if (argc != 3) return 2;
  int len = atoi(argv[2]);
  if (tidscope_model_open(&model, argv[1], "benchmark", TIDSCOPE_OWN, 1, 0, 8, 31)) {
    perror("no model");
    return 1;
  }
  for (int i = 0; i < QUESTIONS; i++)
    for (int j = 0; j < len; j++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      questions[i][j] = (int64_t)(seed >> 54);
    }
  for (int i = 0; i < QUESTIONS; i++) tidscope_update(&model, questions[i], len, i % 3 != 0);
  tidscope_flush(&model);
  for (int i = 0; i < QUESTIONS; i++)
    if (ask(&model, questions[i], len) != predict(&model, questions[i], len)) return 3;
  int description = memfd_create("description", MFD_CLOEXEC);
  if (write(description, model.memory, 64) != 64) return 4;
  while (fgets(line, sizeof line, stdin)) {
    double start = now();
    unsigned last = 0;
    /* The next question depends on the last answer: nothing of two predictions overlaps. */
    for (unsigned i = 0; i < PREDICTIONS; i++)
      last = (unsigned)predict(&model, questions[(i + (last & 1)) % QUESTIONS], len);
    double latency = (now() - start) / PREDICTIONS;
    start = now();
    for (unsigned i = 0; i < PREDICTIONS; i++)
      sum += predict(&model, questions[i % QUESTIONS], len);
    double shared = (now() - start) / PREDICTIONS;
    start = now();
    for (unsigned i = 0; i < CALLS; i++) {
      sum += syscall(SYS_getppid);
      sum += predict(&model, questions[i % QUESTIONS], len);
    }
    double behind_call = (now() - start) / CALLS;
    start = now();
    for (unsigned i = 0; i < CALLS; i++) {
      unsigned char bytes[64];
      sum += pread(description, bytes, sizeof bytes, 0);
      sum += predict(&model, questions[i % QUESTIONS], len);
    }
    double behind_read = (now() - start) / CALLS;
    start = now();
    for (unsigned i = 0; i < ASKED; i++) sum += ask(&model, questions[i % QUESTIONS], len);
    double asked = (now() - start) / ASKED;
    printf("%f %f %f %f %f %ld\n", shared, latency, behind_call, behind_read, asked,
           sum + (long)last);
    fflush(stdout);
  }
  tidscope_model_close(&model);
  return 0;
}
