/* Threads that wait, each for a lock of its own, for as long as the program lives.
 *
 * Usage: named_locks LIBRARY [PROGRAM]; LIBRARY has the lock `library_lock`. Says "ready" when all
 * locks are held. A byte on standard input lets the joined thread end and says "ended"; a second
 * one executes PROGRAM. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t static_lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((section(".data"))) pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
/* Mangled C++ name of shop::till. */
pthread_mutex_t till __asm__("_ZN4shop4tillE") = PTHREAD_MUTEX_INITIALIZER;
static struct {
  long members;
  pthread_mutex_t lock;
  pthread_cond_t changed;
} pool = {3, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int gate[2];

static void *wait_for_lock(void *lock) {
  pthread_mutex_lock(lock);
  return NULL;
}

static void *wait_for_condition(void *waited) {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER; /* nobody else waits for it */
  pthread_mutex_lock(&own);
  pthread_cond_wait(waited, &own);
  return NULL;
}

static void *wait_for_semaphore(void *waited) {
  sem_wait(waited);
  return NULL;
}

static void *wait_to_read(void *lock) {
  pthread_rwlock_rdlock(lock);
  return NULL;
}

static void *wait_to_write(void *lock) {
  pthread_rwlock_wrlock(lock);
  return NULL;
}

static void *wait_for_gate(void *unused) {
  char byte;
  (void)unused;
  (void)!read(gate[0], &byte, 1);
  return NULL;
}

static void *wait_for_thread(void *thread) {
  pthread_join(*(pthread_t *)thread, NULL);
  puts("ended");
  fflush(stdout);
  pause();
  return NULL;
}

static pthread_t start(const char *name, void *(*what)(void *), void *with) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, what, with) != 0) abort();
  pthread_setname_np(thread, name);
  return thread;
}

static void hold(const char *name, pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  start(name, wait_for_lock, lock);
}

int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_NOW);
  pthread_mutex_t *heap_lock = malloc(sizeof *heap_lock);
  pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t joined;
  char byte;
  if (library == NULL || dlopen("libstdc++.so.6", RTLD_NOW) == NULL || heap_lock == NULL || pipe(gate) != 0) abort();
  pthread_mutex_init(heap_lock, NULL);
  sem_init(&semaphore, 0, 0);
  hold("global", &global_lock);
  hold("static", &static_lock);
  hold("data", &data_lock);
  hold("member", &pool.lock);
  hold("nested", &till);
  hold("library", dlsym(library, "library_lock"));
  hold("heap", heap_lock);
  hold("stack", &stack_lock);
  start("condition", wait_for_condition, &condition);
  start("changed", wait_for_condition, &pool.changed);
  pthread_rwlock_wrlock(&table);
  start("reader", wait_to_read, &table);
  start("writer", wait_to_write, &table);
  start("semaphore", wait_for_semaphore, &semaphore);
  joined = start("gate", wait_for_gate, NULL);
  start("join", wait_for_thread, &joined);
  puts("ready");
  fflush(stdout);
  (void)!read(0, &byte, 1);
  (void)!write(gate[1], "x", 1);
  (void)!read(0, &byte, 1);
  if (count > 2) execv(words[2], (char *[]){words[2], words[1], NULL});
  return 0;
}
