/*
 * Programs with one fault each, and the same programs without it: incident KIND fault|healthy.
 * benchmarks/incident_cases.py says what each is. They run until they are ended; threads have names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "incident.h"

int fault;

/* A mutex held over fsync; the twin syncs outside of it. */
static pthread_mutex_t journal_mutex = PTHREAD_MUTEX_INITIALIZER;
static int journal;

static void *append(void *unused)
{
	static char block[1 << 16];

	for (;;) {
		pthread_mutex_lock(&journal_mutex);
		if (write(journal, block, sizeof block) < 0)
			exit(1);
		if (fault)
			fsync(journal);
		pthread_mutex_unlock(&journal_mutex);
		if (!fault)
			sleep_us(4000);
		compute_us(100);
	}
	return NULL;
}

static void held_over_io(void)
{
	char path[] = "/var/tmp/tidscope-incident-XXXXXX";

	journal = mkstemp(path);
	unlink(path);
	start_many(8, "writer", append);
	for (;;) {
		sleep_us(1000000);
		if (ftruncate(journal, 0))
			exit(1);
		lseek(journal, 0, SEEK_SET);
	}
}

/* A queue of work: one thread feeds it, workers take from it. In the fault the feeder computes for
 * each piece as long as it can. */
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static int queued;

static void *work_off(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&queue_mutex);
		while (!queued)
			pthread_cond_wait(&queue_filled, &queue_mutex);
		queued--;
		pthread_mutex_unlock(&queue_mutex);
		compute_us(300);
	}
	return NULL;
}

static void *feed(void *unused)
{
	for (;;) {
		if (fault)
			compute_us(2000);
		else
			sleep_us(2000);
		pthread_mutex_lock(&queue_mutex);
		queued++;
		pthread_cond_signal(&queue_filled);
		pthread_mutex_unlock(&queue_mutex);
	}
	return NULL;
}

static void hot_thread(void)
{
	start_many(6, "worker", work_off);
	start("parser", feed, NULL);
}

/* Timers that all fire at once, or spread over the period. */
static void *tick(void *of)
{
	int64_t period = 50000000, due = (now_ns() / period + 2) * period;
	struct timespec time;

	if (!fault)
		due += (intptr_t)of * period / 200;
	for (;;) {
		time = (struct timespec){due / 1000000000, due % 1000000000};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		compute_us(60);
		due += period;
	}
	return NULL;
}

static void timer_herd(void)
{
	start_many(200, "timer", tick);
}

/* Counters in one cache line, or in one each: nobody waits for anybody. */
static struct {
	volatile uint64_t count;
	char apart[120];
} counters[4];

static void *count_up(void *of)
{
	volatile uint64_t *own = fault ? &counters[0].count + (intptr_t)of : &counters[(intptr_t)of].count;

	for (;;) {
		for (int i = 0; i < 200000; i++)
			++*own;
		sleep_us(200);
	}
	return NULL;
}

static void false_sharing(void)
{
	start_many(2, "counter", count_up);
}

/* A mapped file whose pages are read all over; in the fault there is not memory for all of them. */
static void *look_up(void *unused)
{
	char path[] = "/var/tmp/tidscope-incident-XXXXXX";
	size_t bytes = fault ? 48 << 20 : 4 << 20;
	int file = mkstemp(path);
	unsigned seed = (uintptr_t)path;
	volatile char *memory;

	unlink(path);
	for (size_t at = 0; at < bytes; at += sizeof seed << 18) {
		static char block[sizeof seed << 18] = {1};

		if (write(file, block, sizeof block) < 0)
			exit(1);
	}
	fsync(file);
	memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	madvise((void *)memory, bytes, MADV_RANDOM);
	for (int i = 0;; i++) {
		(void)memory[rand_r(&seed) % bytes];
		if (i % 1000 == 0)
			sleep_us(fault ? 100 : 5000);
	}
	return NULL;
}

static void reclaim(void)
{
	start_many(2, "index", look_up);
}

/* Memory that is mapped, touched and unmapped, again and again; the twin keeps it. */
static void *touch(void *unused)
{
	size_t bytes = 16 << 20;
	char *memory = NULL;

	for (;;) {
		if (!memory)
			memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(memory, bytes, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < bytes; at += 4096)
			memory[at]++;
		if (fault) {
			munmap(memory, bytes);
			memory = NULL;
		}
		sleep_us(fault ? 100 : 5000);
	}
	return NULL;
}

static void fault_storm(void)
{
	start_many(2, "parser", touch);
}

/* One lock for everything, held for a moment, taken in turn; the twin has one for each thread. */
static pthread_mutex_t table_mutex[16];

static void *convoy_member(void *of)
{
	pthread_mutex_t *mutex = &table_mutex[fault ? 0 : (intptr_t)of];

	for (;;) {
		pthread_mutex_lock(mutex);
		if (fault)
			sleep_us(1000);
		compute_us(20);
		pthread_mutex_unlock(mutex);
		sleep_us(fault ? 100 : 10000);
	}
	return NULL;
}

static void convoy(void)
{
	for (int i = 0; i < 16; i++)
		pthread_mutex_init(&table_mutex[i], NULL);
	start_many(12, "session", convoy_member);
}

/* Transfers between two accounts take the locks of both, the payer's first; the twin's in one order. */
static pthread_mutex_t account_mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *transfer(void *of)
{
	int first = (intptr_t)of % 2, other = !first;

	if (!fault)
		first = 0, other = 1;
	for (;;) {
		pthread_mutex_lock(&account_mutex[first]);
		sleep_us(500);
		pthread_mutex_lock(&account_mutex[other]);
		compute_us(20);
		pthread_mutex_unlock(&account_mutex[other]);
		pthread_mutex_unlock(&account_mutex[first]);
		sleep_us(20000);
	}
	return NULL;
}

static void deadlock(void)
{
	start_many(4, "transfer", transfer);
}

/* A thread of real-time priority computes on the CPU on which workers are; the twin sleeps. */
static void *serve_on_first(void *unused)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	for (;;) {
		compute_us(500);
		sleep_us(2000);
	}
	return NULL;
}

static void *urgent(void *unused)
{
	struct sched_param priority = {.sched_priority = 10};
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		perror("SCHED_FIFO");
	for (;;) {
		compute_us(fault ? 45000 : 500);
		sleep_us(fault ? 5000 : 20000);
	}
	return NULL;
}

static void starvation(void)
{
	start_many(3, "server", serve_on_first);
	start("realtime", urgent, NULL);
}

/* A thread for each request that never ends; the twin's end. */
static void *serve_once(void *unused)
{
	compute_us(200);
	if (fault)
		for (;;)
			sleep_us(3600000000LL);
	return NULL;
}

static void thread_leak(void)
{
	for (int i = 0;; i++) {
		start("request", serve_once, NULL);
		sleep_us(100000);
	}
}

/* A command for each request, started and waited for; the twin does the work itself. */
static void *spawn(void *unused)
{
	for (;;) {
		pid_t child = fault ? fork() : 0;

		if (fault && !child) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
		else
			compute_us(200);
		sleep_us(fault ? 500 : 5000);
	}
	return NULL;
}

static void fork_storm(void)
{
	start_many(2, "handler", spawn);
}

/* Work that the machine's CPUs can do; who disturbs it is another program. */
static void *serve_evenly(void *unused)
{
	for (;;) {
		compute_us(15000);
		sleep_us(60000);
	}
	return NULL;
}

static void even_work(void)
{
	start_many(4, "worker", serve_evenly);
}

/* Work that leaves nobody a CPU. */
static void *compute_all(void *unused)
{
	for (;;)
		compute_us(1000000);
	return NULL;
}

static void busy(void)
{
	start_many(2 * sysconf(_SC_NPROCESSORS_ONLN), "busy", compute_all);
}

/* Files that are written and synced; who slows it down is the limit of its disk. */
static void *write_file(void *unused)
{
	char path[] = "/var/tmp/tidscope-incident-XXXXXX";
	static char block[1 << 19];
	int file = mkstemp(path);

	unlink(path);
	for (;;) {
		if (pwrite(file, block, sizeof block, 0) < 0)
			exit(1);
		fdatasync(file);
		sleep_us(30000);
	}
	return NULL;
}

static void file_writer(void)
{
	start_many(2, "flusher", write_file);
}

static const struct {
	const char *name;
	void (*begin)(void);
} KINDS[] = {
	{"held-over-io", held_over_io}, {"hot-thread", hot_thread},   {"timer-herd", timer_herd},
	{"false-sharing", false_sharing}, {"fault-storm", fault_storm}, {"convoy", convoy},
	{"starvation", starvation},	{"thread-leak", thread_leak}, {"slow-client", slow_client},
	{"fork-storm", fork_storm},	{"even-work", even_work},     {"file-writer", file_writer},
	{"busy", busy},			{"reclaim", reclaim},	      {"lock-burst", lock_burst},
	{"broadcast", broadcast},	{"deadlock", deadlock},	      {"polling", polling},
	{"resolvers", resolvers},	{"unix-reader", unix_reader}, {"long-write", long_write},
	{"full-queue", full_queue},
};

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	fault = !strcmp(arguments[2], "fault");
	for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
		if (strcmp(KINDS[i].name, arguments[1]))
			continue;
		puts("ready");
		fflush(stdout);
		KINDS[i].begin();
		for (;;)
			pause();
	}
	return 2;
}
