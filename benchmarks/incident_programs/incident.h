/* Clocks, work, and named threads for the programs of incident.c. */
#pragma once
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Whether the program has its fault, or is the healthy twin. */
extern int fault;

static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline void sleep_us(int64_t us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

/* Compute for some time of this thread's own. */
static inline void compute_us(int64_t us)
{
	struct timespec time;
	int64_t end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	end = time.tv_sec * 1000000000LL + time.tv_nsec + us * 1000;
	do {
		for (volatile int i = 0; i < 1000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	} while (time.tv_sec * 1000000000LL + time.tv_nsec < end);
}

static inline void start(const char *name, void *(*work)(void *), void *of)
{
	char own[32];
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, of)) {
		perror("pthread_create");
		exit(1);
	}
	snprintf(own, sizeof own, "%.15s", name);
	pthread_setname_np(thread, own);
	pthread_detach(thread);
}

static inline void start_many(int count, const char *role, void *(*work)(void *))
{
	char name[16];

	for (intptr_t i = 0; i < count; i++) {
		snprintf(name, sizeof name, "%s-%d", role, (int)i);
		start(name, work, (void *)i);
	}
}

/* Programs of bursts.c. */
void lock_burst(void);
void broadcast(void);
void polling(void);
/* Programs of queues.c. */
void long_write(void);
void full_queue(void);
/* Programs of sockets.c. */
void slow_client(void);
void resolvers(void);
void unix_reader(void);
