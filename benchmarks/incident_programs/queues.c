/* Threads that wait for room in a queue, and for a lock that readers share; see incident.c. */
#define _GNU_SOURCE
#include "incident.h"
#include <semaphore.h>

/* A table that eight threads look up in, and one writes for 30 ms of 35; the twin's for 0.1 ms. */
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

static void *look_up(void *unused)
{
	for (;;) {
		pthread_rwlock_rdlock(&table_lock);
		compute_us(50);
		pthread_rwlock_unlock(&table_lock);
		sleep_us(2000);
	}
	return NULL;
}

static void *reload(void *unused)
{
	for (;;) {
		pthread_rwlock_wrlock(&table_lock);
		sleep_us(fault ? 30000 : 100);
		pthread_rwlock_unlock(&table_lock);
		sleep_us(fault ? 5000 : 35000);
	}
	return NULL;
}

void long_write(void)
{
	start_many(8, "lookup", look_up);
	start("reload", reload, NULL);
}

/* A queue with four places: six threads put in what one takes out in 3 ms, or in 0.1 ms. */
static pthread_mutex_t places_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, some = PTHREAD_COND_INITIALIZER;
static int taken;

static void *scan(void *unused)
{
	for (;;) {
		sleep_us(fault ? 500 : 50000);
		pthread_mutex_lock(&places_mutex);
		while (taken == 4)
			pthread_cond_wait(&room, &places_mutex);
		taken++;
		pthread_cond_signal(&some);
		pthread_mutex_unlock(&places_mutex);
	}
	return NULL;
}

static void *take_out(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&places_mutex);
		while (!taken)
			pthread_cond_wait(&some, &places_mutex);
		taken--;
		pthread_cond_signal(&room);
		pthread_mutex_unlock(&places_mutex);
		sleep_us(fault ? 3000 : 100);
	}
	return NULL;
}

void full_queue(void)
{
	start_many(6, "scan", scan);
	start("indexer", take_out, NULL);
}
