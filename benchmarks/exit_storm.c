/*
 * Bears and ends threads as fast as it can: exit_storm THREADS ALIVE
 *
 * Waits for a byte on standard input, then starts THREADS threads, at most ALIVE of them at a time,
 * and waits for each. Prints how many there were and how long it took (JSON, one line). Ends when
 * standard input is closed. A thread has sent its exit record when pthread_join returns: the kernel
 * sends it before it wakes who waits (kernel/exit.c: do_exit calls taskstats_exit before exit_mm).
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *nothing(void *argument)
{
	return argument;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	long threads = argc == 3 ? atol(argv[1]) : 0, alive = argc == 3 ? atol(argv[2]) : 0;
	long made = 0;
	char byte;
	double start;
	pthread_t *wave;
	pthread_attr_t small;

	if (threads < 1 || alive < 1) {
		fprintf(stderr, "usage: exit_storm THREADS ALIVE\n");
		return 2;
	}
	wave = calloc((size_t)alive, sizeof(*wave));
	pthread_attr_init(&small);
	if (!wave || pthread_attr_setstacksize(&small, 64 * 1024))
		return 1;
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	start = now_s();
	while (made < threads) {
		long count = 0;
		int failed = 0;

		while (count < alive && made + count < threads) {
			failed = pthread_create(&wave[count], &small, nothing, NULL);
			if (failed)
				break;
			count++;
		}
		for (long i = 0; i < count; i++)
			pthread_join(wave[i], NULL);
		made += count;
		if (failed && !count) {
			fprintf(stderr, "pthread_create: %s\n", strerror(failed));
			return 1;
		}
	}
	printf("{\"threads\": %ld, \"seconds\": %.3f}\n", made, now_s() - start);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	free(wave);
	return 0;
}
