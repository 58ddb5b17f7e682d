/* Reports worker pools of a C or C++ program, and lets tidscope set the size of one.
 *
 * Define TIDSCOPE_AGENT_IMPLEMENTATION in exactly one source file, before this header, which must be
 * the first there. C11 or C++17, Linux, libc and pthreads only. README.md shows how to adopt it,
 * docs/agents.md describes the protocol.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TIDSCOPE_AGENT_H
#define TIDSCOPE_AGENT_H

#if defined(TIDSCOPE_AGENT_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* struct ucred, accept4, pipe2, pthread_setname_np */
#endif

#include <stdint.h>

#define TIDSCOPE_AGENT_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* A pool: places for jobs, whose number can change while jobs run. All functions accept NULL. */
typedef struct tidscope_pool tidscope_pool;

/* A job of a pool; copy it along with the work. CLOCK_MONOTONIC, in ns. */
typedef struct tidscope_job {
  uint64_t queued_ns;
  uint64_t started_ns;
} tidscope_job;

/* Create a pool of `size` places (1 or more); NULL if there is no memory. Pools of one name are summed. */
tidscope_pool *tidscope_pool_new(const char *name, unsigned size);

/* Create a pool whose threads the program counts and resizes itself, so no job waits for a place.
 * The agent's thread calls both functions, which must call none of this header's. `line` is what sets
 * a size for good, with {size} in it, or NULL. */
tidscope_pool *tidscope_pool_own(const char *name, unsigned (*size)(void *context),
                                 void (*resize)(void *context, unsigned size), void *context,
                                 const char *line);

/* Free a pool without jobs; its counters stay reported. Closes the agent if it steers this pool. */
void tidscope_pool_free(tidscope_pool *pool);

/* Change the number of places; returns at once. Running jobs keep theirs. */
void tidscope_pool_resize(tidscope_pool *pool, unsigned size);

/* Number of places, or of running jobs while there are more of them. */
unsigned tidscope_pool_size(tidscope_pool *pool);

/* Begin a job in this thread: wait, first come first served, until a place is free. */
tidscope_job tidscope_enter(tidscope_pool *pool);

/* For programs with a queue: count a job when it is queued, and begin it in the worker. */
tidscope_job tidscope_submit(tidscope_pool *pool);
void tidscope_begin(tidscope_pool *pool, tidscope_job *job);

/* Remove a submitted job that will never begin. */
void tidscope_cancel(tidscope_pool *pool);

/* End a job that has begun. Each finished job is one operation. */
void tidscope_end(tidscope_pool *pool, tidscope_job job, int failed);

/* Add operations that are not jobs. */
void tidscope_ops_add(uint64_t count);

/* Start the agent: collectors of root or of this user read all pools, and steer one within bounds.
 * Return 0, or -1 if it cannot start; tidscope_error() says why. It ends with the program. */
int tidscope_start(tidscope_pool *pool, unsigned lower, unsigned upper);

/* Start the agent without a knob: pools are only read. */
int tidscope_report_pools(void);

/* Restore the size and remove the socket. Idempotent. */
void tidscope_close(void);

/* Notify collectors that the program entered a new phase, so that they search again. */
void tidscope_restart_search(void);

/* Path of the agent's socket; empty if it is not running. */
const char *tidscope_path(void);

/* Why the agent did not start. */
const char *tidscope_error(void);

#ifdef __cplusplus
} /* extern "C" */

#include <exception>

namespace tidscope {

/* A job that ends with its scope, and has failed if an exception leaves it. */
class Job {
 public:
  explicit Job(tidscope_pool *pool) : Job(pool, tidscope_submit(pool)) {}
  Job(tidscope_pool *pool, tidscope_job submitted)
      : pool_(pool), job_(submitted), exceptions_(std::uncaught_exceptions()) {
    tidscope_begin(pool_, &job_);
  }
  ~Job() { tidscope_end(pool_, job_, std::uncaught_exceptions() > exceptions_); }
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;

 private:
  tidscope_pool *pool_;
  tidscope_job job_;
  int exceptions_;
};

}  // namespace tidscope
#endif
#endif /* TIDSCOPE_AGENT_H */

#if defined(TIDSCOPE_AGENT_IMPLEMENTATION) && !defined(TIDSCOPE_AGENT_IMPLEMENTED)
#define TIDSCOPE_AGENT_IMPLEMENTED

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#if defined(__GLIBC__) && !defined(__USE_GNU)
#error "include tidscope_agent.h before other headers, or compile with -D_GNU_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TDS_BUCKETS = 32,
  TDS_LOWEST_BITS = 10,
  TDS_NAMES = 32,
  TDS_NAME_LETTERS = 64,
  TDS_LARGEST_SIZE = 1 << 20,
  TDS_LONGEST_LEASE_S = 60,
  TDS_LINE = 4096,     /* longest line to the agent, in bytes */
  TDS_ANSWER = 65536,  /* longest line from it */
  TDS_CLIENTS = 8,
  TDS_DEEPEST = 64,    /* nesting of JSON */
  TDS_BRIEF = 161,     /* bytes of a quoted word: 40 letters and an end */
  TDS_FILES = 256,     /* directory entries checked per cleanup */
  TDS_RETRY_MS = 50
};

static uint64_t tds_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Text: bounded output, UTF-8 ---- */

/* A line under construction. */
struct tds_out {
  char *text;
  size_t used, size;
  int full;   /* something did not fit */
  int failed; /* the line is an error */
};

__attribute__((format(printf, 2, 3))) static void tds_put(struct tds_out *out, const char *format,
                                                          ...) {
  va_list given;
  va_start(given, format);
  int length = vsnprintf(out->text + out->used, out->size - out->used, format, given);
  va_end(given);
  if (length < 0 || (size_t)length >= out->size - out->used)
    out->full = 1;
  else
    out->used += (size_t)length;
}

/* Bytes of the UTF-8 sequence at a position; 0 if it is none. */
static size_t tds_letter(const unsigned char *at, const unsigned char *end) {
  size_t left = (size_t)(end - at);
  unsigned char low = 0x80, high = 0xbf;
  if (left == 0) return 0;
  if (*at < 0x80) return 1;
  size_t length = *at >= 0xc2 && *at < 0xe0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : *at >= 0xf0 && *at < 0xf5 ? 4 : 0;
  if (length == 0 || left < length) return 0;
  if (*at == 0xe0) low = 0xa0; /* overlong */
  if (*at == 0xed) high = 0x9f; /* surrogates */
  if (*at == 0xf0) low = 0x90;
  if (*at == 0xf4) high = 0x8f;
  if (at[1] < low || at[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return length;
}

/* Copy at most so many letters; a byte that is not UTF-8 becomes a question mark. */
static void tds_copy_text(char *to, size_t size, const char *from, int letters) {
  const unsigned char *at = (const unsigned char *)from, *end = at + strlen(from);
  size_t used = 0;
  for (; at < end && letters > 0; letters--) {
    size_t length = tds_letter(at, end);
    size_t kept = length ? length : 1;
    if (used + kept >= size) break;
    memcpy(to + used, length ? (const char *)at : "?", kept);
    used += kept;
    at += kept;
  }
  to[used] = '\0';
}

static void tds_quote(struct tds_out *out, const char *text) {
  tds_put(out, "\"");
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      tds_put(out, "\\%c", *text);
    else if ((unsigned char)*text < ' ' || *text == 0x7f)
      tds_put(out, "\\u%04x", (unsigned)*text);
    else
      tds_put(out, "%c", *text);
  }
  tds_put(out, "\"");
}

/* ---- Pools ---- */

/* Counters of a pool, then its two histograms. */
enum {
  TDS_SUBMITTED,
  TDS_STARTED,
  TDS_FINISHED,
  TDS_FAILED,
  TDS_RESPONSE_NS,
  TDS_RUN_NS,
  TDS_QUEUE_WAIT_NS,
  TDS_IDLE_NS,
  TDS_RESPONSE,
  TDS_QUEUE_WAIT = TDS_RESPONSE + TDS_BUCKETS,
  TDS_FIGURES = TDS_QUEUE_WAIT + TDS_BUCKETS
};

typedef uint64_t tds_figures[TDS_FIGURES];

/* A thread that waits for a place, on its own stack. */
struct tds_waiter {
  pthread_cond_t granted;
  int has_place;
  struct tds_waiter *next;
};

/* Pools of one name. */
struct tds_entry {
  char name[4 * TDS_NAME_LETTERS + 1];
  tidscope_pool *pools;
  tds_figures past; /* counters of freed pools */
};

struct tidscope_pool {
  pthread_mutex_t lock;
  struct tds_waiter *first, **last;
  unsigned limit, busy;
  uint64_t queue, idle_since_ns;
  tds_figures did;
  unsigned (*own_size)(void *context); /* NULL: the pool's places bound its jobs */
  void (*own_resize)(void *context, unsigned size);
  void *context;
  char line[4 * 60 + 1]; /* what sets a size for good; empty if unknown */
  struct tds_entry *entry; /* NULL if there are too many names */
  tidscope_pool *next;     /* in its entry */
};

/* Lock order: the registry, then a pool. */
static pthread_mutex_t tds_registry = PTHREAD_MUTEX_INITIALIZER;
static struct tds_entry tds_entries[TDS_NAMES];
static unsigned tds_names, tds_omitted;
static uint64_t tds_ops;

static int tds_bucket(uint64_t ns) {
  int bucket = 0;
  for (ns >>= TDS_LOWEST_BITS; ns && bucket < TDS_BUCKETS - 1; ns >>= 1) bucket++;
  return bucket;
}

/* Add up idle time until now; call it before `limit` or `busy` changes, with the lock held. */
static uint64_t tds_settle(tidscope_pool *pool) {
  uint64_t now = tds_now_ns();
  if (pool->limit > pool->busy)
    pool->did[TDS_IDLE_NS] += (pool->limit - pool->busy) * (now - pool->idle_since_ns);
  pool->idle_since_ns = now;
  return now;
}

static unsigned tds_larger(unsigned one, unsigned other) { return one > other ? one : other; }

static tidscope_pool *tds_pool_make(unsigned size, const char *line) {
  tidscope_pool *pool = (tidscope_pool *)calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pthread_mutex_init(&pool->lock, NULL);
  pool->last = &pool->first;
  pool->limit = tds_larger(size, 1);
  pool->idle_since_ns = tds_now_ns();
  tds_copy_text(pool->line, sizeof pool->line, line, 60);
  return pool;
}

static void tds_register(tidscope_pool *pool, const char *name) {
  struct tds_entry *entry = NULL;
  char kept[sizeof entry->name];
  tds_copy_text(kept, sizeof kept, name && *name ? name : "pool", TDS_NAME_LETTERS);
  pthread_mutex_lock(&tds_registry);
  for (unsigned i = 0; i < tds_names && !entry; i++)
    if (strcmp(tds_entries[i].name, kept) == 0) entry = &tds_entries[i];
  if (!entry && tds_names < TDS_NAMES) {
    entry = &tds_entries[tds_names++];
    snprintf(entry->name, sizeof entry->name, "%s", kept);
  }
  if (entry) {
    pool->entry = entry;
    pool->next = entry->pools;
    entry->pools = pool;
  } else {
    tds_omitted++;
  }
  pthread_mutex_unlock(&tds_registry);
}

tidscope_pool *tidscope_pool_new(const char *name, unsigned size) {
  tidscope_pool *pool = tds_pool_make(size, "tidscope_pool_new(name, {size})");
  if (pool) tds_register(pool, name);
  return pool;
}

tidscope_pool *tidscope_pool_own(const char *name, unsigned (*size)(void *context),
                                 void (*resize)(void *context, unsigned size), void *context,
                                 const char *line) {
  tidscope_pool *pool = tds_pool_make(size(context), line ? line : "");
  if (!pool) return NULL;
  pool->own_size = size;
  pool->own_resize = resize;
  pool->context = context;
  tds_register(pool, name);
  return pool;
}

/* Give free places to waiting threads; the lock is held and idle time is settled. */
static void tds_grant(tidscope_pool *pool) {
  while (pool->first && pool->busy < pool->limit) {
    struct tds_waiter *waiter = pool->first;
    pool->first = waiter->next;
    if (!pool->first) pool->last = &pool->first;
    pool->busy++;
    waiter->has_place = 1;
    pthread_cond_signal(&waiter->granted);
  }
}

void tidscope_pool_resize(tidscope_pool *pool, unsigned size) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  tds_settle(pool);
  pool->limit = tds_larger(size, 1);
  tds_grant(pool);
  pthread_mutex_unlock(&pool->lock);
  if (pool->own_resize) pool->own_resize(pool->context, tds_larger(size, 1));
}

unsigned tidscope_pool_size(tidscope_pool *pool) {
  if (!pool) return 0;
  if (pool->own_size) return tds_larger(pool->own_size(pool->context), 1);
  pthread_mutex_lock(&pool->lock);
  unsigned size = tds_larger(pool->limit, pool->busy);
  pthread_mutex_unlock(&pool->lock);
  return size;
}

static unsigned tds_wanted(tidscope_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  unsigned wanted = pool->limit;
  pthread_mutex_unlock(&pool->lock);
  return wanted;
}

tidscope_job tidscope_submit(tidscope_pool *pool) {
  tidscope_job job = {tds_now_ns(), 0};
  if (pool) {
    pthread_mutex_lock(&pool->lock);
    pool->did[TDS_SUBMITTED]++;
    pool->queue++;
    pthread_mutex_unlock(&pool->lock);
  }
  return job;
}

void tidscope_cancel(tidscope_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  if (pool->queue) pool->queue--;
  pthread_mutex_unlock(&pool->lock);
}

/* Wait for a place; the lock is held. */
static void tds_wait(tidscope_pool *pool) {
  struct tds_waiter self;
  int state;
  /* The list refers to this stack, so the thread must not be cancelled meanwhile. */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_cond_init(&self.granted, NULL);
  self.has_place = 0;
  self.next = NULL;
  *pool->last = &self;
  pool->last = &self.next;
  while (!self.has_place) pthread_cond_wait(&self.granted, &pool->lock);
  pthread_cond_destroy(&self.granted);
  pthread_setcancelstate(state, NULL);
}

void tidscope_begin(tidscope_pool *pool, tidscope_job *job) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  if (!pool->own_size && (pool->first || pool->busy >= pool->limit)) {
    tds_wait(pool);
    job->started_ns = tds_now_ns();
  } else {
    job->started_ns = tds_settle(pool);
    pool->busy++;
  }
  uint64_t wait_ns = job->started_ns - job->queued_ns;
  if (pool->queue) pool->queue--;
  pool->did[TDS_STARTED]++;
  pool->did[TDS_QUEUE_WAIT_NS] += wait_ns;
  pool->did[TDS_QUEUE_WAIT + tds_bucket(wait_ns)]++;
  pthread_mutex_unlock(&pool->lock);
}

tidscope_job tidscope_enter(tidscope_pool *pool) {
  tidscope_job job = tidscope_submit(pool);
  tidscope_begin(pool, &job);
  return job;
}

void tidscope_end(tidscope_pool *pool, tidscope_job job, int failed) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  uint64_t now = tds_settle(pool);
  if (pool->busy) pool->busy--;
  pool->did[TDS_FINISHED]++;
  pool->did[TDS_FAILED] += failed != 0;
  pool->did[TDS_RESPONSE_NS] += now - job.queued_ns;
  pool->did[TDS_RUN_NS] += now - job.started_ns;
  pool->did[TDS_RESPONSE + tds_bucket(now - job.queued_ns)]++;
  tds_grant(pool);
  pthread_mutex_unlock(&pool->lock);
}

void tidscope_ops_add(uint64_t count) { __atomic_fetch_add(&tds_ops, count, __ATOMIC_RELAXED); }

/* Figures of all pools of one name. */
struct tds_reading {
  tds_figures did;
  uint64_t size, busy, queue;
  int counts_jobs, knows_idle;
};

static void tds_read_entry(struct tds_entry *entry, struct tds_reading *sum) {
  memset(sum, 0, sizeof *sum);
  memcpy(sum->did, entry->past, sizeof sum->did);
  sum->counts_jobs = sum->did[TDS_SUBMITTED] > 0;
  sum->knows_idle = 1;
  for (tidscope_pool *pool = entry->pools; pool; pool = pool->next) {
    unsigned own = pool->own_size ? pool->own_size(pool->context) : 0;
    pthread_mutex_lock(&pool->lock);
    tds_settle(pool);
    for (int i = 0; i < TDS_FIGURES; i++) sum->did[i] += pool->did[i];
    sum->size += pool->own_size ? own : tds_larger(pool->limit, pool->busy);
    sum->busy += pool->busy;
    sum->queue += pool->queue;
    sum->counts_jobs |= !pool->own_size || pool->did[TDS_SUBMITTED] > 0;
    sum->knows_idle &= !pool->own_size;
    pthread_mutex_unlock(&pool->lock);
  }
}

static void tds_put_figure(struct tds_out *out, const char *name, int known, uint64_t value) {
  if (known)
    tds_put(out, ",\"%s\":%llu", name, (unsigned long long)value);
  else
    tds_put(out, ",\"%s\":null", name);
}

/* Put a histogram without trailing zeros. */
static void tds_put_times(struct tds_out *out, const char *name, int known, const uint64_t *counts) {
  int end = TDS_BUCKETS;
  while (end > 0 && counts[end - 1] == 0) end--;
  tds_put(out, ",\"%s\":%s", name, known ? "[" : "null");
  for (int b = 0; known && b < end; b++)
    tds_put(out, "%s%llu", b ? "," : "", (unsigned long long)counts[b]);
  if (known) tds_put(out, "]");
}

static void tds_put_element(struct tds_out *out, const char *name, const struct tds_reading *of) {
  static const char *const names[] = {"submitted",   "started", "finished",      "failed",
                                      "response_ns", "run_ns",  "queue_wait_ns", "idle_ns"};
  tds_put(out, "{\"name\":");
  tds_quote(out, name);
  tds_put(out, ",\"kind\":\"threads\"");
  tds_put_figure(out, "size", 1, of->size);
  tds_put_figure(out, "busy", of->counts_jobs, of->busy);
  tds_put_figure(out, "queue", of->counts_jobs, of->queue);
  for (int i = TDS_SUBMITTED; i <= TDS_IDLE_NS; i++)
    tds_put_figure(out, names[i], i == TDS_IDLE_NS ? of->knows_idle : of->counts_jobs, of->did[i]);
  tds_put(out, ",\"parks\":null,\"steals\":null,\"polls\":null");
  tds_put_times(out, "response", of->counts_jobs, of->did + TDS_RESPONSE);
  tds_put_times(out, "queue_wait", of->counts_jobs, of->did + TDS_QUEUE_WAIT);
  tds_put(out, "}");
}

/* Put the answer to read_pools; a pool that does not fit into the line is omitted. */
static void tds_put_pools(struct tds_out *out) {
  const size_t rest = 128;
  struct tds_reading sum;
  tds_put(out, "{\"pools\":[");
  out->size -= rest;
  pthread_mutex_lock(&tds_registry);
  unsigned omitted = tds_omitted;
  const char *comma = "";
  for (unsigned i = 0; i < tds_names; i++) {
    size_t before = out->used;
    tds_read_entry(&tds_entries[i], &sum);
    tds_put(out, "%s", comma);
    tds_put_element(out, tds_entries[i].name, &sum);
    if (out->full) {
      out->used = before;
      out->full = 0;
      omitted++;
    } else {
      comma = ",";
    }
  }
  pthread_mutex_unlock(&tds_registry);
  out->size += rest;
  tds_put(out, "],\"omitted\":%u,\"monotonic_ns\":%llu}", omitted,
          (unsigned long long)tds_now_ns());
}

/* Jobs finished by all pools. */
static uint64_t tds_finished(void) {
  uint64_t finished = 0;
  pthread_mutex_lock(&tds_registry);
  for (unsigned i = 0; i < tds_names; i++) {
    finished += tds_entries[i].past[TDS_FINISHED];
    for (tidscope_pool *pool = tds_entries[i].pools; pool; pool = pool->next) {
      pthread_mutex_lock(&pool->lock);
      finished += pool->did[TDS_FINISHED];
      pthread_mutex_unlock(&pool->lock);
    }
  }
  pthread_mutex_unlock(&tds_registry);
  return finished;
}

/* ---- JSON: one pass over a line, without memory ---- */

struct tds_json {
  const unsigned char *at, *end;
};

/* A value by its extent; type is its first letter, 0 for numbers, or TDS_ABSENT. */
struct tds_value {
  int type;
  const unsigned char *begin, *end;
};

enum { TDS_NUMBER = 0, TDS_ABSENT = -1 };

static void tds_blanks(struct tds_json *json) {
  while (json->at < json->end && *json->at && strchr(" \t\r\n", *json->at)) json->at++;
}

static int tds_next(struct tds_json *json, char letter) {
  if (json->at == json->end || *json->at != (unsigned char)letter) return 0;
  json->at++;
  return 1;
}

static int tds_hex(struct tds_json *json, unsigned *value) {
  *value = 0;
  for (int i = 0; i < 4; i++) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = json->at < json->end && *json->at ? strchr(digits, *json->at) : NULL;
    if (!found) return 0;
    *value = *value << 4 | (unsigned)((found - digits) % 16);
    json->at++;
  }
  return 1;
}

/* Read an escape after its backslash as UTF-8; the number of bytes, 0 if it is none. A lone surrogate
 * and zero become U+FFFD, so that zero ends no word. */
static size_t tds_escape(struct tds_json *json, unsigned char *letter) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char *found = json->at < json->end && *json->at ? strchr(names, *json->at) : NULL;
  if (found) {
    json->at++;
    letter[0] = (unsigned char)meant[found - names];
    return 1;
  }
  unsigned point, low;
  if (!tds_next(json, 'u') || !tds_hex(json, &point)) return 0;
  if (point >= 0xd800 && point < 0xe000) {
    struct tds_json after = *json;
    int pair = point < 0xdc00 && tds_next(&after, '\\') && tds_next(&after, 'u');
    if (pair && tds_hex(&after, &low) && low >= 0xdc00 && low < 0xe000) {
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      *json = after;
    } else {
      point = 0xfffd;
    }
  }
  if (point == 0) point = 0xfffd;
  if (point < 0x80) {
    letter[0] = (unsigned char)point;
    return 1;
  }
  size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (size_t i = length; --i > 0; point >>= 6) letter[i] = (unsigned char)(0x80 | (point & 0x3f));
  letter[0] = (unsigned char)((0xf00 >> length & 0xf0) | point);
  return length;
}

/* Read a string into `out`, cut to whole letters: 0 if it is none, 2 if it was cut. */
static int tds_string(struct tds_json *json, char *out, size_t size) {
  size_t used = 0;
  int found = 1;
  if (!tds_next(json, '"')) return 0;
  while (!tds_next(json, '"')) {
    unsigned char letter[4];
    size_t length = 0;
    if (tds_next(json, '\\')) {
      length = tds_escape(json, letter);
    } else if (json->at < json->end && *json->at >= ' ') {
      length = tds_letter(json->at, json->end);
      memcpy(letter, json->at, length);
      json->at += length;
    }
    if (length == 0) return 0;
    if (found == 1 && used + length < size) {
      memcpy(out + used, letter, length);
      used += length;
    } else {
      found = 2;
    }
  }
  out[used] = '\0';
  return found;
}

static int tds_digits(struct tds_json *json) {
  const unsigned char *begin = json->at;
  while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
  return json->at > begin;
}

static int tds_number(struct tds_json *json) {
  tds_next(json, '-');
  if (!tds_next(json, '0') && !tds_digits(json)) return 0;
  if (tds_next(json, '.') && !tds_digits(json)) return 0;
  if (tds_next(json, 'e') || tds_next(json, 'E')) {
    if (!tds_next(json, '+')) tds_next(json, '-');
    return tds_digits(json);
  }
  return 1;
}

static int tds_word(struct tds_json *json, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0) return 0;
  json->at += length;
  return 1;
}

static int tds_any(struct tds_json *json, int depth, struct tds_value *value);

/* Read an object: values of `count` names (the last of equal names counts), and its first other name. */
static int tds_object(struct tds_json *json, int depth, const char *const *names,
                      struct tds_value *values, int count, char *other) {
  char name[TDS_BRIEF];
  struct tds_value value;
  for (int i = 0; i < count; i++) {
    values[i].type = TDS_ABSENT;
    values[i].begin = values[i].end = json->at;
  }
  if (!tds_next(json, '{')) return 0;
  tds_blanks(json);
  if (tds_next(json, '}')) return 1;
  do {
    tds_blanks(json);
    int found = tds_string(json, name, sizeof name), known = 0;
    tds_blanks(json);
    if (!found || !tds_next(json, ':') || !tds_any(json, depth + 1, &value)) return 0;
    for (int i = 0; i < count; i++)
      if (found == 1 && strcmp(names[i], name) == 0) {
        values[i] = value;
        known = 1;
      }
    /* The empty name is unknown, too: a blank stands for it. */
    if (!known && other && !*other) snprintf(other, TDS_BRIEF, "%s", *name ? name : " ");
    tds_blanks(json);
  } while (tds_next(json, ','));
  return tds_next(json, '}');
}

static int tds_list(struct tds_json *json, int depth) {
  struct tds_value value;
  json->at++;
  tds_blanks(json);
  if (tds_next(json, ']')) return 1;
  do {
    if (!tds_any(json, depth + 1, &value)) return 0;
    tds_blanks(json);
  } while (tds_next(json, ','));
  return tds_next(json, ']');
}

/* Read any value; 0 if it is not JSON or too deep. */
static int tds_any(struct tds_json *json, int depth, struct tds_value *value) {
  char ignored[1];
  int good;
  tds_blanks(json);
  if (json->at == json->end || depth > TDS_DEEPEST) return 0;
  value->begin = json->at;
  value->type = *json->at;
  switch (*json->at) {
    case '{': good = tds_object(json, depth, NULL, NULL, 0, NULL); break;
    case '[': good = tds_list(json, depth); break;
    case '"': good = tds_string(json, ignored, sizeof ignored) != 0; break;
    case 't': good = tds_word(json, "true"); break;
    case 'f': good = tds_word(json, "false"); break;
    case 'n': good = tds_word(json, "null"); break;
    default: value->type = TDS_NUMBER; good = tds_number(json);
  }
  value->end = json->at;
  return good;
}

/* Read a value as an integer without sign, point or exponent; -1 if it is none or above a bound. */
static int64_t tds_integer(const struct tds_value *value, int64_t greatest) {
  int64_t number = 0;
  if (value->type != TDS_NUMBER) return -1;
  for (const unsigned char *at = value->begin; at < value->end; at++) {
    if (*at < '0' || *at > '9') return -1;
    number = number * 10 + (*at - '0');
    if (number > greatest) return -1;
  }
  return number;
}

/* Read a value as a number above 0, whatever the locale; 0 if it is none. */
static double tds_positive(const struct tds_value *value) {
  double number = 0;
  int exponent = 0, power = 0, negative = 0, fraction = 0;
  const unsigned char *at = value->begin;
  if (value->type != TDS_NUMBER || *at == '-') return 0;
  for (; at < value->end && *at != 'e' && *at != 'E'; at++) {
    if (*at == '.') {
      fraction = 1;
      continue;
    }
    number = number * 10 + (*at - '0');
    exponent -= fraction;
  }
  for (; at < value->end; at++) {
    if (*at == '-') negative = 1;
    if (*at >= '0' && *at <= '9' && power < 10000) power = power * 10 + (*at - '0');
  }
  exponent += negative ? -power : power;
  for (; exponent > 0 && number > 0 && number < 1e300; exponent--) number *= 10;
  for (; exponent < 0 && number > 0; exponent++) number /= 10;
  return number;
}

/* ---- Protocol ---- */

enum {
  TDS_E_PARSE = -32700,
  TDS_E_INVALID = -32600,
  TDS_E_METHOD = -32601,
  TDS_E_PARAMS = -32602,
  TDS_E_BOUNDS = -32001,
  TDS_E_BUSY = -32003,
  TDS_E_CLIENTS = -32004
};

struct tds_client {
  int fd;
  uint64_t number;
  size_t used;
  char line[TDS_LINE];
};

/* Everything that the agent's thread owns. A lease outlives its client's connection; until it ends,
 * another client may take it over only if that connection is closed. */
struct tds_server {
  int listener, woken;
  tidscope_pool *pool; /* NULL without a knob */
  unsigned lower, upper, original;
  uint64_t holder, deadline_ns; /* 0: none */
  uint64_t last_number;
  int clients;
  struct tds_client client[TDS_CLIENTS];
  char answer[TDS_ANSWER];
};

/* Put an error; return true if the connection must be closed, because later input may be malformed. */
__attribute__((format(printf, 4, 5))) static int tds_fail(struct tds_out *out, int64_t id, int code,
                                                          const char *format, ...) {
  char message[256];
  va_list given;
  va_start(given, format);
  vsnprintf(message, sizeof message, format, given);
  va_end(given);
  out->used = 0;
  out->failed = 1;
  tds_put(out, "{\"jsonrpc\":\"2.0\",\"id\":");
  if (id < 0)
    tds_put(out, "null");
  else
    tds_put(out, "%lld", (long long)id);
  tds_put(out, ",\"error\":{\"code\":%d,\"message\":", code);
  tds_quote(out, message);
  tds_put(out, "}}\n");
  return code == TDS_E_PARSE || code == TDS_E_INVALID;
}

static void tds_release(struct tds_server *server) {
  if (server->deadline_ns) tidscope_pool_resize(server->pool, server->original);
  server->holder = server->deadline_ns = 0;
}

/* Milliseconds until the lease expires, rounded up; -1 without one. Releases an expired one. */
static int tds_lease_left_ms(struct tds_server *server) {
  uint64_t now = tds_now_ns();
  if (server->deadline_ns && server->deadline_ns <= now) tds_release(server);
  return server->deadline_ns ? (int)((server->deadline_ns - now) / 1000000u) + 1 : -1;
}

static unsigned tds_size(struct tds_server *server) {
  return server->pool ? tidscope_pool_size(server->pool) : 1;
}

static void tds_put_sizes(struct tds_server *server, struct tds_out *out) {
  unsigned wanted = server->pool ? tds_wanted(server->pool) : 1;
  tds_put(out, "{\"size\":%u,\"wanted\":%u}", tds_size(server), wanted);
}

static int tds_set(struct tds_server *server, uint64_t client, const struct tds_value *params,
                   struct tds_out *out, int64_t id) {
  static const char *const names[] = {"size", "lease_s"};
  struct tds_value values[2];
  struct tds_json json = {params->begin, params->end};
  char other[TDS_BRIEF] = "";
  if (params->type != '{' || !tds_object(&json, 0, names, values, 2, other) || *other ||
      values[0].type == TDS_ABSENT || values[1].type == TDS_ABSENT)
    return tds_fail(out, id, TDS_E_PARAMS, "set takes size and lease_s, and nothing else");
  int64_t size = tds_integer(&values[0], TDS_LARGEST_SIZE);
  if (size < 1)
    return tds_fail(out, id, TDS_E_PARAMS, "size must be an integer from 1 to %d",
                    (int)TDS_LARGEST_SIZE);
  double lease_s = tds_positive(&values[1]);
  if (!(lease_s > 0 && lease_s <= TDS_LONGEST_LEASE_S))
    return tds_fail(out, id, TDS_E_PARAMS, "lease_s must be a number above 0, %d at most",
                    (int)TDS_LONGEST_LEASE_S);
  if (server->holder && server->holder != client)
    return tds_fail(out, id, TDS_E_BUSY, "another client steers; its lease must end first");
  if (size < server->lower || size > server->upper)
    return tds_fail(out, id, TDS_E_BOUNDS, "size %d is not within the bounds, %u to %u", (int)size,
                    server->lower, server->upper);
  server->holder = client;
  server->deadline_ns = tds_now_ns() + (uint64_t)(lease_s * 1e9);
  tidscope_pool_resize(server->pool, (unsigned)size);
  tds_put_sizes(server, out);
  return 0;
}

static void tds_put_hello(struct tds_server *server, struct tds_out *out) {
  tds_put(out,
          "{\"pid\":%d,\"runtime\":\"native\",\"version\":\"" TIDSCOPE_AGENT_VERSION
          "\",\"protocol\":2,\"knob\":\"%s\",\"lower\":%u,\"upper\":%u,\"size\":%u,\"original\":%u",
          (int)getpid(), server->pool ? "pool" : "none", server->lower, server->upper,
          tds_size(server), server->original);
  if (server->pool && *server->pool->line) {
    tds_put(out, ",\"line\":");
    tds_quote(out, server->pool->line);
  }
  tds_put(out, "}");
}

static void tds_put_reading(struct tds_server *server, struct tds_out *out) {
  tidscope_pool *pool = server->pool;
  uint64_t ops, wait_ns = 0, waits = 0;
  if (pool) {
    pthread_mutex_lock(&pool->lock);
    ops = pool->did[TDS_FINISHED];
    wait_ns = pool->did[TDS_QUEUE_WAIT_NS];
    waits = pool->did[TDS_STARTED];
    pthread_mutex_unlock(&pool->lock);
  } else {
    ops = tds_finished();
  }
  ops += __atomic_load_n(&tds_ops, __ATOMIC_RELAXED);
  int queued = pool && (!pool->own_size || waits);
  tds_put(out, "{\"ops\":%llu,\"size\":%u", (unsigned long long)ops, tds_size(server));
  tds_put_figure(out, "queue_wait_ns", queued, wait_ns);
  tds_put_figure(out, "queue_waits", queued, waits);
  tds_put(out, ",\"monotonic_ns\":%llu}", (unsigned long long)tds_now_ns());
}

/* Answer a line; return true if the connection must be closed. */
static int tds_reply(struct tds_server *server, uint64_t client, const char *line, size_t length,
                     struct tds_out *out) {
  static const char *const names[] = {"id", "jsonrpc", "method", "params"};
  static const char *const methods[] = {"hello", "read", "read_pools", "release"};
  struct tds_json json = {(const unsigned char *)line, (const unsigned char *)line + length};
  struct tds_json begin = json;
  struct tds_value whole, values[4];
  char other[TDS_BRIEF] = "", method[TDS_BRIEF], version[8] = "";
  int good = tds_any(&json, 0, &whole);
  tds_blanks(&json);
  if (!good || json.at != json.end)
    return tds_fail(out, -1, TDS_E_PARSE, "the line is not JSON");
  tds_blanks(&begin);
  if (!tds_object(&begin, 0, names, values, 4, other))
    return tds_fail(out, -1, TDS_E_INVALID, "the line is not a JSON object");
  int64_t id = tds_integer(&values[0], ((int64_t)1 << 53) - 1);
  if (id < 0) return tds_fail(out, -1, TDS_E_INVALID, "id must be an integer from 0 on");
  struct tds_json text = {values[1].begin, values[1].end};
  if (values[1].type != '"' || tds_string(&text, version, sizeof version) != 1 ||
      strcmp(version, "2.0") != 0)
    return tds_fail(out, id, TDS_E_INVALID, "jsonrpc must be \"2.0\"");
  if (values[2].type != '"') return tds_fail(out, id, TDS_E_INVALID, "method must be a string");
  if (*other) return tds_fail(out, id, TDS_E_INVALID, "a call has no member '%s'", other);
  text.at = values[2].begin;
  text.end = values[2].end;
  tds_string(&text, method, sizeof method);
  int which = 0;
  while (which < 4 && strcmp(methods[which], method) != 0) which++;
  int sets = strcmp(method, "set") == 0;
  if (which == 4 && !sets)
    return tds_fail(out, id, TDS_E_METHOD, "there is no method '%s'", method);
  if (!sets && values[3].type != TDS_ABSENT)
    return tds_fail(out, id, TDS_E_PARAMS, "%s takes no parameters", method);
  tds_put(out, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":", (long long)id);
  if (sets) {
    tds_set(server, client, &values[3], out, id);
  } else if (which == 0) {
    tds_put_hello(server, out);
  } else if (which == 1) {
    tds_put_reading(server, out);
  } else if (which == 2) {
    tds_put_pools(out);
  } else {
    tds_release(server);
    tds_put_sizes(server, out);
  }
  if (!out->failed) tds_put(out, "}\n");
  return 0;
}

/* ---- Server ---- */

static void tds_drop(struct tds_server *server, int which) {
  struct tds_client *client = &server->client[which];
  if (server->holder == client->number) server->holder = 0;
  close(client->fd);
  server->clients--;
  if (which < server->clients) *client = server->client[server->clients];
}

/* Send a line; fails if the client does not read, so that the caller disconnects it. */
static int tds_send(int fd, const char *line, size_t length) {
  return send(fd, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

static void tds_notify(struct tds_server *server) {
  static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"restart_search\"}\n";
  for (int i = server->clients; --i >= 0;)
    if (!tds_send(server->client[i].fd, line, sizeof line - 1)) tds_drop(server, i);
}

static struct tds_out tds_answer(struct tds_server *server) {
  struct tds_out out = {server->answer, 0, sizeof server->answer, 0, 0};
  return out;
}

static void tds_accept(struct tds_server *server) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    /* Out of file descriptors, for example; retry later. */
    if (errno != EAGAIN && errno != EINTR) poll(NULL, 0, TDS_RETRY_MS);
    return;
  }
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
      (peer.uid != 0 && peer.uid != geteuid())) {
    close(fd);
    return;
  }
  if (server->clients == TDS_CLIENTS) {
    struct tds_out out = tds_answer(server);
    tds_fail(&out, -1, TDS_E_CLIENTS, "there are %d clients already", (int)TDS_CLIENTS);
    tds_send(fd, out.text, out.used);
    close(fd);
    return;
  }
  struct tds_client *client = &server->client[server->clients++];
  client->fd = fd;
  client->number = ++server->last_number;
  client->used = 0;
}

/* Read from a client and answer its lines; return false if the connection is over. */
static int tds_receive(struct tds_server *server, struct tds_client *client) {
  ssize_t got = recv(client->fd, client->line + client->used, sizeof client->line - client->used, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return 0;
  client->used += (size_t)got;
  size_t begin = 0;
  char *end;
  while ((end = (char *)memchr(client->line + begin, '\n', client->used - begin)) != NULL) {
    struct tds_out out = tds_answer(server);
    size_t length = (size_t)(end - client->line) - begin;
    int closes = tds_reply(server, client->number, client->line + begin, length, &out);
    begin += length + 1;
    if (out.full || !tds_send(client->fd, out.text, out.used) || closes) return 0;
  }
  client->used -= begin;
  memmove(client->line, client->line + begin, client->used);
  if (client->used < sizeof client->line) return 1;
  struct tds_out out = tds_answer(server);
  tds_fail(&out, -1, TDS_E_INVALID, "the line is longer than %d bytes", (int)TDS_LINE);
  tds_send(client->fd, out.text, out.used);
  return 0;
}

/* ---- Socket folder ---- */

static int tds_owner(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? (int)status.st_uid : -1;
}

/* Create a folder if it is missing; return why it cannot be used, or NULL. */
static const char *tds_prepare(const char *folder) {
  struct stat status;
  if (*folder != '/') return "not an absolute path";
  /* All users share the system's folder. */
  if (mkdir(folder, strcmp(folder, "/run/tidscope") == 0 ? 0755 : 0700) != 0 && errno != EEXIST)
    return strerror(errno);
  if (lstat(folder, &status) != 0) return strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "not a folder";
  if (status.st_uid != 0 && status.st_uid != geteuid()) return "belongs to another user";
  if ((status.st_mode & 022) != 0 && (status.st_mode & S_ISVTX) == 0)
    return "others may write to it";
  return NULL;
}

static int tds_socket(struct sockaddr_un *address, const char *path) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address->sun_path, path, strlen(path));
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Listen with mode 0600; -1 if that fails. The socket is renamed into place when it is ready, so
 * that other users can never connect. A stale socket of an ended process with this ID is replaced. */
static int tds_listen(const char *path) {
  struct sockaddr_un address;
  char unnamed[sizeof address.sun_path + 8];
  snprintf(unnamed, sizeof unnamed, "%s.new", path);
  int fd = tds_socket(&address, unnamed);
  if (fd < 0) return -1;
  unlink(unnamed);
  if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
      chmod(unnamed, 0600) == 0 && listen(fd, 16) == 0 && rename(unnamed, path) == 0)
    return fd;
  int error = errno;
  unlink(unnamed);
  close(fd);
  errno = error;
  return -1;
}

/* Remove a socket of this user if nobody listens; an attempt does not disturb a listening program. */
static void tds_remove_stale(const char *path) {
  struct stat found, now;
  struct sockaddr_un address;
  if (lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode) || found.st_uid != geteuid()) return;
  int fd = tds_socket(&address, path);
  if (fd < 0) return;
  int refused = connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 &&
                errno == ECONNREFUSED;
  close(fd);
  /* A new program may have reused the name. */
  if (refused && lstat(path, &now) == 0 && now.st_dev == found.st_dev && now.st_ino == found.st_ino)
    unlink(path);
}

/* Remove stale sockets, which killed programs leave behind. A process ID may belong to another
 * namespace, so a connection attempt decides. */
static void tds_sweep(const char *folder) {
  DIR *opened = opendir(folder);
  struct dirent *entry;
  if (!opened) return;
  for (int i = 0; i < TDS_FILES && (entry = readdir(opened)) != NULL; i++) {
    size_t digits = strspn(entry->d_name, "0123456789");
    char process[32], path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    if (digits == 0 || digits > 10 || strcmp(entry->d_name + digits, ".sock") != 0) continue;
    snprintf(process, sizeof process, "/proc/%.*s", (int)digits, entry->d_name);
    if (access(process, F_OK) == 0) continue;
    int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (length > 0 && (size_t)length < sizeof path) tds_remove_stale(path);
  }
  closedir(opened);
}

/* ---- The agent ---- */

/* Guards what follows, except `stopping`. */
static pthread_mutex_t tds_starting = PTHREAD_MUTEX_INITIALIZER;
static struct {
  struct tds_server *server; /* NULL while the agent does not run */
  pid_t owner;               /* a child after fork has no agent */
  pthread_t thread;
  int wake;
  int stopping;
  int closes_at_exit;
  char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
  char error[512];
} tds_agent;

/* Serve one round. Return false if the agent must end. */
static int tds_step(struct tds_server *server) {
  struct pollfd polled[2 + TDS_CLIENTS];
  char bytes[64];
  int clients = server->clients;
  polled[0].fd = server->woken;
  polled[1].fd = server->listener;
  for (int i = 0; i < clients; i++) polled[2 + i].fd = server->client[i].fd;
  for (int i = 0; i < 2 + clients; i++) polled[i].events = POLLIN;
  if (poll(polled, (nfds_t)(2 + clients), tds_lease_left_ms(server)) < 0) return errno == EINTR;
  if (__atomic_load_n(&tds_agent.stopping, __ATOMIC_ACQUIRE)) return 0;
  /* Backwards: a dropped client's place is filled from the end. */
  for (int i = clients; --i >= 0;)
    if (polled[2 + i].revents && !tds_receive(server, &server->client[i])) tds_drop(server, i);
  if (polled[0].revents && read(server->woken, bytes, sizeof bytes) > 0) tds_notify(server);
  if (polled[1].revents) tds_accept(server);
  return 1;
}

static void *tds_run(void *given) {
  struct tds_server *server = (struct tds_server *)given;
  while (tds_step(server)) continue;
  tds_release(server);
  while (server->clients) tds_drop(server, 0);
  close(server->listener);
  return NULL;
}

/* Listen in a folder; -1 if it cannot be used, and the reason is added to the error. */
static int tds_open_in(const char *folder) {
  size_t used = strlen(tds_agent.error);
  int fd = -1;
  const char *wrong = tds_prepare(folder);
  int length = snprintf(tds_agent.path, sizeof tds_agent.path, "%s/%d.sock", folder, (int)getpid());
  if (!wrong && length >= (int)sizeof tds_agent.path) wrong = "its path is too long";
  if (!wrong && (fd = tds_listen(tds_agent.path)) < 0) wrong = strerror(errno);
  if (fd >= 0)
    tds_sweep(folder);
  else
    snprintf(tds_agent.error + used, sizeof tds_agent.error - used, "; %s: %s", folder, wrong);
  return fd;
}

/* Listen in the first usable folder; -1 if there is none. */
static int tds_open(void) {
  const char *given = getenv("TIDSCOPE_AGENT_DIR");
  const char *bases[2] = {getenv("XDG_RUNTIME_DIR"), NULL};
  char user[32], folder[sizeof tds_agent.path];
  snprintf(tds_agent.error, sizeof tds_agent.error, "no folder for a socket");
  if (given && *given) return tds_open_in(given);
  snprintf(user, sizeof user, "/run/user/%u", (unsigned)geteuid());
  bases[1] = user;
  for (int i = 0; i < 2; i++) {
    /* sudo may leave another user's folder in the environment. */
    if (!bases[i] || *bases[i] != '/' || tds_owner(bases[i]) != (int)geteuid()) continue;
    int length = snprintf(folder, sizeof folder, "%s/tidscope", bases[i]);
    int fd = length < (int)sizeof folder ? tds_open_in(folder) : -1;
    if (fd >= 0) return fd;
  }
  return tds_open_in("/run/tidscope");
}

/* Start the thread, with all signals blocked: they belong to the program's threads. */
static int tds_spawn(struct tds_server *server) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&tds_agent.thread, NULL, tds_run, server);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_setname_np(tds_agent.thread, "tidscope-agent");
  return error;
}

static int tds_start(tidscope_pool *pool, unsigned lower, unsigned upper) {
  int ends[2];
  struct tds_server *server = (struct tds_server *)calloc(1, sizeof *server);
  if (!server || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    snprintf(tds_agent.error, sizeof tds_agent.error, "%s", strerror(errno));
    free(server);
    return -1;
  }
  server->pool = pool;
  server->lower = lower;
  server->upper = upper;
  server->original = pool ? tds_wanted(pool) : 1;
  server->woken = ends[0];
  server->listener = tds_open();
  tds_agent.stopping = 0;
  int error = server->listener < 0 ? -1 : tds_spawn(server);
  if (error != 0) {
    if (server->listener >= 0) {
      snprintf(tds_agent.error, sizeof tds_agent.error, "no thread: %s", strerror(error));
      unlink(tds_agent.path);
      close(server->listener);
    }
    close(ends[0]);
    close(ends[1]);
    free(server);
    tds_agent.path[0] = '\0';
    return -1;
  }
  tds_agent.server = server;
  tds_agent.owner = getpid();
  tds_agent.wake = ends[1];
  tds_agent.error[0] = '\0';
  if (!tds_agent.closes_at_exit) tds_agent.closes_at_exit = atexit(tidscope_close) == 0;
  return 0;
}

/* Close descriptors; a child after fork has only copies, and its parent keeps socket and thread. */
static void tds_forget(void) {
  struct tds_server *server = tds_agent.server;
  if (tds_agent.owner != getpid()) {
    for (int i = 0; i < server->clients; i++) close(server->client[i].fd);
    close(server->listener);
  }
  close(server->woken);
  close(tds_agent.wake);
  free(server);
  tds_agent.server = NULL;
  tds_agent.path[0] = '\0';
}

static int tds_start_once(tidscope_pool *pool, unsigned lower, unsigned upper) {
  int result = -1;
  unsigned size = pool ? tds_wanted(pool) : 1;
  pthread_mutex_lock(&tds_starting);
  if (tds_agent.server && tds_agent.owner != getpid()) tds_forget();
  if (tds_agent.server)
    snprintf(tds_agent.error, sizeof tds_agent.error, "the agent is already running");
  else if (lower < 1 || lower > size || upper < size || upper > TDS_LARGEST_SIZE)
    snprintf(tds_agent.error, sizeof tds_agent.error,
             "bounds %u to %u do not hold the pool's size, %u", lower, upper, size);
  else
    result = tds_start(pool, lower, upper);
  pthread_mutex_unlock(&tds_starting);
  return result;
}

int tidscope_start(tidscope_pool *pool, unsigned lower, unsigned upper) {
  if (pool) return tds_start_once(pool, lower, upper);
  pthread_mutex_lock(&tds_starting);
  snprintf(tds_agent.error, sizeof tds_agent.error, "there is no pool");
  pthread_mutex_unlock(&tds_starting);
  return -1;
}

int tidscope_report_pools(void) { return tds_start_once(NULL, 1, 1); }

static void tds_wake(void) {
  /* A full pipe already holds a byte, so one more is redundant. */
  ssize_t ignored = write(tds_agent.wake, "r", 1);
  (void)ignored;
}

void tidscope_restart_search(void) {
  pthread_mutex_lock(&tds_starting);
  if (tds_agent.server && tds_agent.owner == getpid()) tds_wake();
  pthread_mutex_unlock(&tds_starting);
}

void tidscope_close(void) {
  pthread_mutex_lock(&tds_starting);
  if (tds_agent.server && tds_agent.owner == getpid()) {
    __atomic_store_n(&tds_agent.stopping, 1, __ATOMIC_RELEASE);
    tds_wake();
    pthread_join(tds_agent.thread, NULL);
    unlink(tds_agent.path);
  }
  if (tds_agent.server) tds_forget();
  pthread_mutex_unlock(&tds_starting);
}

const char *tidscope_path(void) { return tds_agent.path; }

const char *tidscope_error(void) { return tds_agent.error; }

void tidscope_pool_free(tidscope_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&tds_starting);
  int steered = tds_agent.server && tds_agent.server->pool == pool;
  pthread_mutex_unlock(&tds_starting);
  if (steered) tidscope_close();
  pthread_mutex_lock(&tds_registry);
  if (pool->entry) {
    tidscope_pool **at = &pool->entry->pools;
    while (*at != pool) at = &(*at)->next;
    *at = pool->next;
    tds_settle(pool);
    for (int i = 0; i < TDS_FIGURES; i++) pool->entry->past[i] += pool->did[i];
  } else {
    tds_omitted--;
  }
  pthread_mutex_unlock(&tds_registry);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* TIDSCOPE_AGENT_IMPLEMENTATION */
