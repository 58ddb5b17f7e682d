/* The client of the prediction service as a library for pypy_worker.py: one model. */
#define _GNU_SOURCE
#include "tidscope_predict.h"

static struct tidscope_model model;

int jit_open(const char *path);
int jit_predict(const int64_t *features, int len);
int jit_update(const int64_t *features, int len, int direction);

int jit_open(const char *path) {
  return tidscope_model_open(&model, path, "pypy-jit", TIDSCOPE_OWN, 1, TIDSCOPE_SHARE_OFF, 8, 31);
}

int jit_predict(const int64_t *features, int len) {
  return tidscope_predict(&model, features, len);
}

int jit_update(const int64_t *features, int len, int direction) {
  return tidscope_update(&model, features, len, direction) || tidscope_flush(&model);
}
