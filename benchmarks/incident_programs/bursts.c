/* Faults that come for a while, and wake-ups of many for the work of one; see incident.c. */
#define _GNU_SOURCE
#include "incident.h"
#include <semaphore.h>

/* A shop whose stock is counted for some seconds under the lock that its orders need. */
#define QUIET_US 12000000
#define COUNTING_US 10000000

static pthread_mutex_t stock_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int counting;

static void *order(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&stock_mutex);
		compute_us(20);
		if (counting)
			sleep_us(2000);
		pthread_mutex_unlock(&stock_mutex);
		sleep_us(10000);
	}
	return NULL;
}

static void *count_stock(void *unused)
{
	sleep_us(QUIET_US);
	counting = fault;
	sleep_us(COUNTING_US);
	counting = 0;
	return NULL;
}

void lock_burst(void)
{
	start_many(12, "order", order);
	start("counter", count_stock, NULL);
}

/* A queue whose 12 workers are all woken for each job; the twin wakes one. */
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_there = PTHREAD_COND_INITIALIZER;
static int jobs;

static void *take_jobs(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&queue_mutex);
		while (jobs == 0)
			pthread_cond_wait(&jobs_there, &queue_mutex);
		jobs--;
		pthread_mutex_unlock(&queue_mutex);
		compute_us(500);
	}
	return NULL;
}

static void *submit(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&queue_mutex);
		jobs++;
		if (fault)
			pthread_cond_broadcast(&jobs_there);
		else
			pthread_cond_signal(&jobs_there);
		pthread_mutex_unlock(&queue_mutex);
		sleep_us(3000);
	}
	return NULL;
}

void broadcast(void)
{
	start_many(12, "taker", take_jobs);
	start("submitter", submit, NULL);
}

/* Threads that look for orders every millisecond. There are none, or each hands one on. */
static sem_t orders;

static void *look_for_orders(void *unused)
{
	for (;;) {
		sleep_us(1000);
		if (!fault)
			sem_post(&orders);
	}
	return NULL;
}

static void *take_orders(void *unused)
{
	for (;;) {
		sem_wait(&orders);
		compute_us(100);
	}
	return NULL;
}

void polling(void)
{
	sem_init(&orders, 0, 0);
	start_many(4, "poller", look_for_orders);
	start_many(2, "taker", take_orders);
}
