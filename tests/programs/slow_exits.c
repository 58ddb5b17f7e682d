/*
 * Threads whose end takes long: slow_exits THREADS MIB
 *
 * Waits for a byte on standard input, then starts THREADS threads, one after the other, and waits
 * for each, while another thread changes the protection of MIB of memory all the time and so holds
 * the lock of the process' memory. A thread that ends sends its exit record (taskstats_exit), wakes
 * who waits for it (exit_mm_release) and only then waits for that lock (exit_mm; kernel/exit.c): for
 * milliseconds it is listed, answers, and has ended. Prints how many threads there were beside the
 * main one (JSON, one line). Ends when standard input is closed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK (64 * 1024)

static char *memory;
static size_t size;
static volatile int over;

static void *nothing(void *argument)
{
	return argument;
}

static void *protect(void *argument)
{
	while (!over) {
		mprotect(memory, size, PROT_READ);
		mprotect(memory, size, PROT_READ | PROT_WRITE);
	}
	return argument;
}

static void *map(size_t bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return mapped;
}

int main(int argc, char **argv)
{
	long threads = argc == 3 ? atol(argv[1]) : 0, mib = argc == 3 ? atol(argv[2]) : 0;
	pthread_attr_t small;
	pthread_t thread, protector;
	char byte;

	if (threads < 1 || mib < 1) {
		fprintf(stderr, "usage: slow_exits THREADS MIB\n");
		return 2;
	}
	size = (size_t)mib << 20;
	memory = map(size);
	/* Small pages: there is more to do for each change. */
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	/* A stack made before: none of these threads has to map one. */
	pthread_attr_init(&small);
	if (pthread_attr_setstack(&small, map(STACK), STACK))
		return 1;
	if (read(STDIN_FILENO, &byte, 1) != 1 || pthread_create(&protector, NULL, protect, NULL))
		return 1;
	for (long i = 0; i < threads; i++) {
		if (pthread_create(&thread, &small, nothing, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	over = 1;
	pthread_join(protector, NULL);
	printf("{\"threads\": %ld}\n", threads + 1);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
