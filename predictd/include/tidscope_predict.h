/*
 * A client of the prediction service, in one header: C11, Linux, no library but the C library.
 *
 *   struct tidscope_model model;
 *   if (tidscope_model_open(&model, NULL, "my-cache", TIDSCOPE_OWN, 1, TIDSCOPE_SHARE_READ, 8, 31))
 *       ... errno says why; go on without predictions
 *   if (tidscope_predict(&model, features, 2) > 0) ...
 *   tidscope_update(&model, features, 2, 1);
 *   tidscope_flush(&model);
 *   tidscope_model_close(&model);
 *
 * A prediction reads shared memory and makes no system call. Updates wait in the model until there
 * are TIDSCOPE_BATCH of them, or until tidscope_flush. One thread uses a model at a time; any
 * number of them may predict. Functions return 0, or -1 with errno: ENOENT (no such model, or it
 * is closed: open it again), EACCES (not permitted), ENOSPC (too many models), EPROTO (the daemon
 * says nonsense), EINVAL, or what the connection failed with.
 */
#ifndef TIDSCOPE_PREDICT_H
#define TIDSCOPE_PREDICT_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first header"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "messages and models are little-endian"
#endif

enum {
  TIDSCOPE_FEATURES = 16,
  TIDSCOPE_ENTRIES = 1024,
  TIDSCOPE_WEIGHTS_AT = 4096,
  TIDSCOPE_MODEL_BYTES = 4096 + 16 * 1024,
  TIDSCOPE_BATCH = 64,
  TIDSCOPE_SHARE_OFF = 0,
  TIDSCOPE_SHARE_READ = 1,
  TIDSCOPE_SHARE_WRITE = 2,
};

#define TIDSCOPE_OWN UINT32_MAX
#define TIDSCOPE_SOCKET "/run/tidscope-predictd/socket"

struct tidscope_model {
  const int8_t *weights;
  const unsigned char *memory;
  int link;
  uint32_t handle;
  uint32_t waiting;
  uint32_t used;
  uint64_t lost; /* updates that the daemon did not accept */
  unsigned char packet[10 + TIDSCOPE_BATCH * (2 + 8 * TIDSCOPE_FEATURES)];
};

/* Index of the weight that a feature picks in its table. */
static inline uint32_t tidscope_entry(int64_t feature) {
  return (uint32_t)((uint64_t)feature * UINT64_C(0x9E3779B97F4A7C15) >> 54);
}

/* The sum of the weights: above 0 yes, below 0 no, 0 undecided, as it is if len is not 1 to 16. */
static inline int tidscope_predict_weights(const int8_t *weights, const int64_t *features,
                                           int len) {
  int sum = 0;
  /* The daemon changes the weights: none is kept from one prediction to the next. */
  atomic_signal_fence(memory_order_seq_cst);
/* Without a loop: its counting would take as long again as a weight. */
#define TIDSCOPE_ADD(i)                                                    \
  case (i) + 1:                                                            \
    sum += weights[(i) * TIDSCOPE_ENTRIES + tidscope_entry(features[(i)])]; \
    __attribute__((fallthrough))
  switch (len) {
    TIDSCOPE_ADD(15);
    TIDSCOPE_ADD(14);
    TIDSCOPE_ADD(13);
    TIDSCOPE_ADD(12);
    TIDSCOPE_ADD(11);
    TIDSCOPE_ADD(10);
    TIDSCOPE_ADD(9);
    TIDSCOPE_ADD(8);
    TIDSCOPE_ADD(7);
    TIDSCOPE_ADD(6);
    TIDSCOPE_ADD(5);
    TIDSCOPE_ADD(4);
    TIDSCOPE_ADD(3);
    TIDSCOPE_ADD(2);
    TIDSCOPE_ADD(1);
    TIDSCOPE_ADD(0);
    default:
      return sum;
  }
#undef TIDSCOPE_ADD
}

static inline int tidscope_predict(const struct tidscope_model *model, const int64_t *features,
                                   int len) {
  return tidscope_predict_weights(model->weights, features, len);
}

/* Feature of a name (FNV-1a, 64 bits). */
static inline int64_t tidscope_named(const char *text) {
  uint64_t value = UINT64_C(0xCBF29CE484222325);
  while (*text) value = (value ^ (unsigned char)*text++) * UINT64_C(0x100000001B3);
  return (int64_t)value;
}

/* Feature of a number, rounded to its first digit: 1234 becomes 1000. */
static inline int64_t tidscope_rounded(int64_t number) {
  uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  uint64_t power = 1;
  while (size / power >= 10) power *= 10;
  uint64_t nearest = (size + power / 2) / power * power;
  return (int64_t)(number < 0 ? 0 - nearest : nearest);
}

/* True if the model is no longer written, so that it has to be opened again. */
static inline int tidscope_model_closed(const struct tidscope_model *model) {
  uint64_t closed;
  memcpy(&closed, model->memory + 32, sizeof closed);
  return closed != 0;
}

static inline void tidscope_put(unsigned char **at, uint64_t value, size_t bytes) {
  memcpy(*at, &value, bytes);
  *at += bytes;
}

static inline void tidscope_disconnect(struct tidscope_model *model) {
  if (model->link >= 0) close(model->link);
  model->link = -1;
}

/* Send a packet and take the reply: its body's size, or -1. A descriptor beside it goes to *file. */
static inline ssize_t tidscope_ask(struct tidscope_model *model, const void *packet, size_t size,
                                   unsigned char *body, size_t room, int *file) {
  static const int errors[] = {0, EINVAL, EACCES, ENOENT, ENOSPC};
  unsigned char reply[64];
  union {
    struct cmsghdr head;
    unsigned char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = reply, .iov_len = sizeof reply};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (model->link < 0) {
    errno = ENOTCONN;
    return -1;
  }
  ssize_t got = send(model->link, packet, size, MSG_NOSIGNAL);
  if (got >= 0) {
    if (file) {
      message.msg_control = control.bytes;
      message.msg_controllen = sizeof control.bytes;
    }
    do got = recvmsg(model->link, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
  }
  if (got < 0) {
    /* A late reply would be taken for the reply to the next request. */
    int why = errno;
    tidscope_disconnect(model);
    errno = why;
    return -1;
  }
  if (file)
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(c), sizeof *file);
  uint16_t version = 0, status = 0;
  if (got >= 4) {
    memcpy(&version, reply, 2);
    memcpy(&status, reply + 2, 2);
  }
  if (got < 4 || version != 1 || status >= sizeof errors / sizeof *errors ||
      (size_t)got - 4 > room) {
    tidscope_disconnect(model);
    errno = got == 0 ? ECONNRESET : EPROTO;
    return -1;
  }
  if (status != 0) {
    errno = errors[status];
    return -1;
  }
  memcpy(body, reply + 4, (size_t)got - 4);
  return got - 4;
}

/* Map the memory of a model, if it is sealed against truncation. */
static inline int tidscope_map(struct tidscope_model *model, int file) {
  const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | 0x0010; /* F_SEAL_FUTURE_WRITE */
  static const uint32_t shape[] = {1, TIDSCOPE_FEATURES, TIDSCOPE_ENTRIES, TIDSCOPE_WEIGHTS_AT};
  struct stat facts;
  int held = fcntl(file, F_GET_SEALS);
  if (held < 0 || (held & seals) != seals || fstat(file, &facts) ||
      facts.st_size != TIDSCOPE_MODEL_BYTES) {
    errno = EPROTO;
    return -1;
  }
  void *memory = mmap(NULL, TIDSCOPE_MODEL_BYTES, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return -1;
  if (memcmp(memory, "TIDSPRED", 8) || memcmp((char *)memory + 8, shape, sizeof shape)) {
    munmap(memory, TIDSCOPE_MODEL_BYTES);
    errno = EPROTO;
    return -1;
  }
  model->memory = memory;
  model->weights = (const int8_t *)memory + TIDSCOPE_WEIGHTS_AT;
  return 0;
}

/*
 * Open a model. socket_path NULL: as TIDSCOPE_PREDICTD in the environment says, or the default one.
 * owner: a user id, or TIDSCOPE_OWN. create: make it if it is not there (only one's own); sharing,
 * threshold (0 to 2032) and limit (1 to 127) are those of a model that is made.
 */
static inline int tidscope_model_open(struct tidscope_model *model, const char *socket_path,
                                      const char *name, uint32_t owner, int create, int sharing,
                                      unsigned threshold, unsigned limit) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timeval patience = {.tv_sec = 1};
  unsigned char packet[96], *at = packet, handle[4];
  int file = -1;
  memset(model, 0, offsetof(struct tidscope_model, packet));
  model->link = -1;
  if (!socket_path) socket_path = getenv("TIDSCOPE_PREDICTD");
  if (!socket_path || !*socket_path) socket_path = TIDSCOPE_SOCKET;
  size_t length = strlen(name);
  if (strlen(socket_path) >= sizeof address.sun_path || length < 1 || length > 64) {
    errno = EINVAL;
    return -1;
  }
  strcpy(address.sun_path, socket_path);
  model->link = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (model->link < 0) return -1;
  setsockopt(model->link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(model->link, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(model->link, (struct sockaddr *)&address, sizeof address)) goto failed;
  tidscope_put(&at, 1, 2);
  tidscope_put(&at, 1, 2);
  tidscope_put(&at, owner, 4);
  tidscope_put(&at, create && owner == TIDSCOPE_OWN, 1);
  tidscope_put(&at, (unsigned)sharing, 1);
  tidscope_put(&at, threshold, 2);
  tidscope_put(&at, limit, 1);
  tidscope_put(&at, length, 1);
  memcpy(at, name, length);
  at += length;
  ssize_t got = tidscope_ask(model, packet, (size_t)(at - packet), handle, sizeof handle, &file);
  if (got < 0) goto failed;
  if (got != sizeof handle || file < 0) {
    errno = EPROTO;
    goto failed;
  }
  memcpy(&model->handle, handle, sizeof handle);
  if (tidscope_map(model, file)) goto failed;
  close(file);
  return 0;
failed:;
  int why = errno;
  if (file >= 0) close(file);
  tidscope_disconnect(model);
  errno = why;
  return -1;
}

/* Send queued updates; when this returns 0, the weights have changed. */
static inline int tidscope_flush(struct tidscope_model *model) {
  unsigned char *at = model->packet, body[4];
  uint32_t sent = model->waiting;
  if (!sent) return 0;
  tidscope_put(&at, 1, 2);
  tidscope_put(&at, 2, 2);
  tidscope_put(&at, model->handle, 4);
  tidscope_put(&at, sent, 2);
  model->waiting = 0;
  if (tidscope_ask(model, model->packet, 10 + model->used, body, sizeof body, NULL) < 0) {
    model->lost += sent;
    model->used = 0;
    return -1;
  }
  model->used = 0;
  return 0;
}

/* Queue an answer for learning: direction above 0 yes, else no. Sent with its batch. */
static inline int tidscope_update(struct tidscope_model *model, const int64_t *features, int len,
                                  int direction) {
  if (len < 1 || len > TIDSCOPE_FEATURES) {
    errno = EINVAL;
    return -1;
  }
  unsigned char *at = model->packet + 10 + model->used;
  tidscope_put(&at, direction > 0 ? 1 : 0xFF, 1);
  tidscope_put(&at, (unsigned)len, 1);
  memcpy(at, features, 8 * (size_t)len);
  model->used += 2 + 8 * (uint32_t)len;
  return ++model->waiting < TIDSCOPE_BATCH ? 0 : tidscope_flush(model);
}

/* Reset the weights of these features; with `all` (owner only) all weights. */
static inline int tidscope_reset(struct tidscope_model *model, const int64_t *features, int len,
                                 int all) {
  unsigned char packet[10 + 8 * TIDSCOPE_FEATURES], *at = packet, body[4];
  if (all) len = 0;
  if ((!all && len < 1) || len > TIDSCOPE_FEATURES) {
    errno = EINVAL;
    return -1;
  }
  tidscope_put(&at, 1, 2);
  tidscope_put(&at, 3, 2);
  tidscope_put(&at, model->handle, 4);
  tidscope_put(&at, all ? 1 : 0, 1);
  tidscope_put(&at, (unsigned)len, 1);
  if (len) memcpy(at, features, 8 * (size_t)len);
  at += 8 * len;
  model->waiting = model->used = 0;
  return tidscope_ask(model, packet, (size_t)(at - packet), body, sizeof body, NULL) < 0 ? -1 : 0;
}

/* Send queued updates if possible, disconnect, and unmap the memory. */
static inline void tidscope_model_close(struct tidscope_model *model) {
  tidscope_flush(model);
  tidscope_disconnect(model);
  if (model->memory) munmap((void *)(uintptr_t)model->memory, TIDSCOPE_MODEL_BYTES);
  model->memory = NULL;
  model->weights = NULL;
}

#endif
