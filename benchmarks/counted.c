/*
 * Threads, processes and CPU time that are counted by those who use them:
 *   counted ACCOUNT CHILDREN SHORT_HZ BURST FORKS FILE
 *
 * ACCOUNT is a file of one struct account a process, the program's own first, which stays readable
 * whatever becomes of the program. CHILDREN processes do what the program does. Commands are bytes
 * of standard input, each answered by a line: g works, h stops working once all short threads and
 * forks have ended, m uses more and more memory. While it works, each process has four threads that
 * compute for half a millisecond in twenty, and starts and ends SHORT_HZ threads a second; of the
 * program itself also BURST threads that are alive at once, and FORKS processes, 64 at a time. FILE
 * gets four KiB with each short thread, if it can be written; "-" is none.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define AT_ONCE 64
#define MAX_CHILDREN 16

struct account {
	uint64_t pid;
	uint64_t born;		/* threads started, forked processes included */
	uint64_t ended;		/* of them, those that have ended */
	uint64_t forks_cpu_ns;	/* CPU time of forked processes that have ended */
};

static struct account *own;
static volatile int working;
static long short_hz, burst, forks;
static int file = -1;
static pthread_barrier_t all_alive;

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void count_one(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static int64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void compute(int64_t ns)
{
	int64_t until = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < until)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void rest(int64_t ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

static void *be_short(void *nothing)
{
	compute(200000);
	return nothing;
}

static void *be_one_of_many(void *nothing)
{
	pthread_barrier_wait(&all_alive);
	return nothing;
}

static void *work(void *nothing)
{
	for (;;) {
		if (working)
			compute(500000);
		/* Few wake-ups while idle. */
		rest(working ? 20000000 : 100000000);
	}
	return nothing;
}

static pthread_t begin(void *(*task)(void *))
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	if (pthread_create(&thread, &small, task, NULL))
		die("pthread_create");
	pthread_attr_destroy(&small);
	return thread;
}

static void *start_shorts(void *nothing)
{
	static char piece[4096];

	while (working) {
		pthread_t thread = begin(be_short);

		count_one(&own->born);
		pthread_join(thread, NULL);
		count_one(&own->ended);
		/* The disk may be full; failed writes are ignored. */
		if (file >= 0 && write(file, piece, sizeof piece) < 0)
			rest(1000000);
		rest(1000000000 / short_hz);
	}
	return nothing;
}

static void start_burst(void)
{
	pthread_t *threads = calloc((size_t)burst, sizeof *threads);

	pthread_barrier_init(&all_alive, NULL, (unsigned)burst + 1);
	for (long i = 0; i < burst; i++) {
		threads[i] = begin(be_one_of_many);
		count_one(&own->born);
	}
	rest(500000000);
	pthread_barrier_wait(&all_alive);
	for (long i = 0; i < burst; i++) {
		pthread_join(threads[i], NULL);
		count_one(&own->ended);
	}
	free(threads);
}

static void reap(void)
{
	struct rusage used;

	if (wait4(-1, NULL, 0, &used) < 0)
		die("wait4");
	count_one(&own->ended);
	own->forks_cpu_ns += 1000u * ((uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000u
				      + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
}

static void start_forks(void)
{
	long alive = 0;

	for (long i = 0; i < forks; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child) {
			compute(100000);
			_exit(0);
		}
		count_one(&own->born);
		if (++alive == AT_ONCE) {
			reap();
			alive--;
		}
	}
	while (alive--)
		reap();
}

static void *do_once(void *nothing)
{
	if (burst)
		start_burst();
	if (forks)
		start_forks();
	return nothing;
}

static void use_memory(void)
{
	for (;;) {
		char *piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (piece == MAP_FAILED)
			return;
		memset(piece, 1, 1 << 20);
		rest(1000000);
	}
}

/* Obeys bytes of one descriptor, and answers each by a byte on another one. */
static void obey(int commands, int answers, int (*children)[2], int count)
{
	pthread_t shorts = 0, once = 0;
	char command, answer;

	own->pid = (uint64_t)getpid();
	for (int i = 0; i < WORKERS; i++)
		begin(work);
	if (write(answers, "\n", 1) != 1)
		return;
	while (read(commands, &command, 1) == 1) {
		for (int i = 0; i < count; i++)
			if (command != 'm' && write(children[i][1], &command, 1) != 1)
				die("child");
		if (command == 'g') {
			working = 1;
			/* Two threads that live while it works; they count as well. */
			shorts = begin(start_shorts);
			count_one(&own->born);
			once = begin(do_once);
			count_one(&own->born);
		} else if (command == 'h') {
			working = 0;
			pthread_join(shorts, NULL);
			count_one(&own->ended);
			pthread_join(once, NULL);
			count_one(&own->ended);
		} else if (command == 'm') {
			use_memory();
		}
		for (int i = 0; i < count; i++)
			if (command != 'm' && read(children[i][0], &answer, 1) != 1)
				die("child");
		if (write(answers, "\n", 1) != 1)
			return;
	}
}

int main(int argc, char **argv)
{
	int children[MAX_CHILDREN][2], count, descriptor;
	struct account *accounts;
	char answer;

	if (argc != 7) {
		fprintf(stderr, "usage: counted ACCOUNT CHILDREN SHORT_HZ BURST FORKS FILE\n");
		return 2;
	}
	count = atoi(argv[2]);
	short_hz = atol(argv[3]);
	burst = atol(argv[4]);
	forks = atol(argv[5]);
	if (count < 0 || count > MAX_CHILDREN || short_hz < 1)
		return 2;
	descriptor = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (descriptor < 0 || ftruncate(descriptor, (count + 1) * (off_t)sizeof *accounts))
		die(argv[1]);
	accounts = mmap(NULL, (size_t)(count + 1) * sizeof *accounts, PROT_READ | PROT_WRITE,
			MAP_SHARED, descriptor, 0);
	if (accounts == MAP_FAILED)
		die("mmap");
	if (strcmp(argv[6], "-")) {
		file = open(argv[6], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (file < 0)
			die(argv[6]);
	}
	own = accounts;
	for (int i = 0; i < count; i++) {
		int down[2], up[2];

		if (pipe(down) || pipe(up))
			die("pipe");
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(down[1]);
			close(up[0]);
			own = &accounts[i + 1];
			burst = forks = 0;
			obey(down[0], up[1], NULL, 0);
			_exit(0);
		}
		close(down[0]);
		close(up[1]);
		children[i][0] = up[0];
		children[i][1] = down[1];
		if (read(up[0], &answer, 1) != 1)
			die("child");
	}
	obey(0, 1, children, count);
	return 0;
}
