/*
 * A client of the prediction service for tests: SOCKET NAME SHARING OWNER, then commands by line,
 * each answered by a line. OWNER is a user id, or "own" for a model that is made.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>

#include "tidscope_predict.h"

static void say(int failed) {
  puts(failed ? strerror(errno) : "done");
}

int main(int argc, char **argv) {
  static struct tidscope_model model;
  char line[1024];
  if (argc != 5) return 2;
  int own = strcmp(argv[4], "own") == 0;
  uint32_t owner = own ? TIDSCOPE_OWN : (uint32_t)atol(argv[4]);
  int failed = tidscope_model_open(&model, argv[1], argv[2], owner, own, atoi(argv[3]), 8, 31);
  say(failed);
  fflush(stdout);
  if (failed) return 0;
  while (fgets(line, sizeof line, stdin)) {
    int64_t numbers[32];
    int count = 0;
    char *state, *word = strtok_r(line, " \n", &state), *text = NULL;
    if (!word) continue;
    for (char *next; count < 32 && (next = strtok_r(NULL, " \n", &state)); count++) {
      text = next;
      numbers[count] = strtoll(next, NULL, 10);
    }
    if (!strcmp(word, "predict")) printf("%d\n", tidscope_predict(&model, numbers, count));
    else if (!strcmp(word, "yes")) say(tidscope_update(&model, numbers, count, 1));
    else if (!strcmp(word, "no")) say(tidscope_update(&model, numbers, count, -1));
    else if (!strcmp(word, "flush")) say(tidscope_flush(&model));
    else if (!strcmp(word, "reset")) say(tidscope_reset(&model, numbers, count, count == 0));
    else if (!strcmp(word, "entry")) printf("%" PRIu32 "\n", tidscope_entry(numbers[0]));
    else if (!strcmp(word, "rounded")) printf("%" PRId64 "\n", tidscope_rounded(numbers[0]));
    else if (!strcmp(word, "named")) printf("%" PRId64 "\n", tidscope_named(text));
    else if (!strcmp(word, "closed")) puts(tidscope_model_closed(&model) ? "true" : "false");
    else if (!strcmp(word, "lost")) printf("%" PRIu64 "\n", model.lost);
    else puts("what?");
    fflush(stdout);
  }
  tidscope_model_close(&model);
  return 0;
}
