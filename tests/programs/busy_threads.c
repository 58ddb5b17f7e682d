/* A program whose threads do all that is counted: busy_threads FILE COPIES
 *
 * COPIES times each: "compute" burns CPU, "files" writes, syncs, drops and reads FILE again, "faults"
 * maps memory, reads it and writes to it, "network" sends to itself over UDP, "sleeper" sleeps a
 * little again and again, "rest" for ever; and "maker" starts threads named "short" that burn a
 * little CPU and end, one after the other. Prints "ready"; ends with its standard input.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, PAGES = 64, PAGE = 4096 };

static const char *path;

static void pause_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static void burn(long rounds)
{
	for (volatile long n = 0; n < rounds; n++)
		;
}

static void *compute(void *unused)
{
	prctl(PR_SET_NAME, "compute");
	for (;;) {
		burn(1000000);
		pause_ms(1);
	}
	return unused;
}

static void *files(void *unused)
{
	static __thread char piece[PIECE];
	int file = open(path, O_RDWR | O_CREAT, 0600);

	prctl(PR_SET_NAME, "files");
	if (file < 0)
		abort();
	for (;;) {
		if (pwrite(file, piece, PIECE, 0) != PIECE)
			abort();
		fdatasync(file);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		for (int at = 0; at < PIECE; at += 512)
			if (pread(file, piece, 512, at) != 512)
				abort();
		pause_ms(2);
	}
	return unused;
}

static void *faults(void *unused)
{
	prctl(PR_SET_NAME, "faults");
	for (;;) {
		volatile char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			abort();
		for (int page = 0; page < PAGES; page++)
			(void)memory[page * PAGE]; /* the zero page, which is copied by the write */
		for (int page = 0; page < PAGES; page++)
			memory[page * PAGE] = 1;
		munmap((void *)memory, PAGES * PAGE);
		pause_ms(1);
	}
	return unused;
}

static void *network(void *unused)
{
	char data[512] = {0};
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof self;
	int end = socket(AF_INET, SOCK_DGRAM, 0);

	prctl(PR_SET_NAME, "network");
	if (end < 0 || bind(end, (void *)&self, length) || getsockname(end, (void *)&self, &length) ||
	    connect(end, (void *)&self, length))
		abort();
	for (;;) {
		for (int n = 0; n < 20; n++)
			if (write(end, data, sizeof data) != sizeof data ||
			    read(end, data, sizeof data) != sizeof data)
				abort();
		pause_ms(1);
	}
	return unused;
}

static void *sleeper(void *unused)
{
	prctl(PR_SET_NAME, "sleeper");
	for (;;)
		pause_ms(1);
	return unused;
}

static void *rest(void *unused)
{
	prctl(PR_SET_NAME, "rest");
	for (;;)
		pause();
	return unused;
}

static void *shortly(void *unused)
{
	prctl(PR_SET_NAME, "short");
	burn(20000);
	return unused;
}

static void *maker(void *unused)
{
	prctl(PR_SET_NAME, "maker");
	for (;;) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, shortly, NULL))
			abort();
		pthread_join(thread, NULL);
		pause_ms(1);
	}
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const works[])(void *) = {compute, files, faults, network, sleeper, rest, maker};
	char byte;

	if (argc != 3)
		return 2;
	path = argv[1];
	for (long copy = 0; copy < atol(argv[2]); copy++)
		for (size_t n = 0; n < sizeof works / sizeof *works; n++) {
			pthread_t thread;
			if (pthread_create(&thread, NULL, works[n], NULL))
				abort();
		}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
