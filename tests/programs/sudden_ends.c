/*
 * Processes whose threads end all at once: sudden_ends PROCESSES THREADS MIB
 *
 * Starts THREADS threads beside the main one, which sleep, and says "ready" on standard output. After
 * a byte on standard input it makes PROCESSES children, one after the other, each of which does the
 * same, writes to MIB of memory, and ends (exit_group) when its threads are there. Whichever thread
 * lets go of the memory last gives it back, after its exit record was sent. Then it ends with its own
 * threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t started;

static void *sleep_on(void *nothing)
{
	pthread_barrier_wait(&started);
	for (;;)
		pause();
	return nothing;
}

static void start(long threads)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_barrier_init(&started, NULL, threads + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (long one = 0; one < threads; one++)
		if (pthread_create(&thread, &small, sleep_on, NULL))
			_exit(1);
	pthread_barrier_wait(&started);
}

static void fill(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(1);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
}

int main(int argc, char **argv)
{
	long processes = argc == 4 ? atol(argv[1]) : 0, threads = argc == 4 ? atol(argv[2]) : 0;
	long mib = argc == 4 ? atol(argv[3]) : 0;
	int status = 0;
	char byte;

	if (processes < 1 || threads < 1 || mib < 1) {
		fprintf(stderr, "usage: sudden_ends PROCESSES THREADS MIB\n");
		return 2;
	}
	start(threads);
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	while (processes-- && !status) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			start(threads);
			fill((size_t)mib << 20);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child)
			return 1;
	}
	_exit(status ? 1 : 0);
}
