/* The least that a tick can take: floor FAMILY PID RATE SECONDS BYTES
 *
 * Wakes at a rate, lists a process' threads in /proc, asks taskstats for all of them at once, and
 * sends so many bytes to a Unix socket, whose other end a child empties. Nothing is decoded, compared
 * or kept. Prints CPU microseconds a tick, without the child's. */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, REPLY = 1024, FRAME = 1 << 22 };

struct request {
	struct nlmsghdr n;
	struct genlmsghdr g;
	struct nlattr a;
	__u32 tid;
};

static struct request requests[MAX_THREADS];
static struct mmsghdr headers[MAX_THREADS];
static struct iovec vectors[MAX_THREADS];
static char replies[MAX_THREADS][REPLY], frame[FRAME];

static void tick(const char *path, int family, int netlink, int out, size_t bytes)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (!folder)
		exit(3);
	while ((entry = readdir(folder)) && count < MAX_THREADS) {
		if (entry->d_name[0] == '.')
			continue;
		requests[count++] = (struct request){
			{sizeof(struct request), (__u16)family, NLM_F_REQUEST, 0, 0},
			{TASKSTATS_CMD_GET, 1, 0},
			{8, TASKSTATS_CMD_ATTR_PID},
			(__u32)atoi(entry->d_name),
		};
	}
	closedir(folder);
	/* A socket takes so many requests at once; each was answered when this returns. */
	for (int done = 0; done < count;) {
		int some = count - done < 128 ? count - done : 128;

		if (send(netlink, requests + done, some * sizeof *requests, 0) < 0)
			exit(4);
		if (recvmmsg(netlink, headers, some, 0, NULL) <= 0)
			exit(5);
		done += some;
	}
	if (send(out, frame, bytes, MSG_NOSIGNAL) < 0)
		exit(6);
}

static double cpu_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1e6 + used.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	int ends[2], netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC), buffer = 1 << 23;
	struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	struct timespec due;
	long period_ns, ticks;
	char path[64];
	double began;

	if (argc != 6 || netlink < 0 || bind(netlink, (void *)&self, sizeof self) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || atol(argv[5]) > FRAME)
		return 2;
	setsockopt(netlink, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
	if (!fork()) {
		close(ends[0]);
		while (read(ends[1], frame, FRAME) > 0)
			;
		_exit(0);
	}
	close(ends[1]);
	for (int i = 0; i < MAX_THREADS; i++) {
		vectors[i] = (struct iovec){replies[i], REPLY};
		headers[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
	}
	snprintf(path, sizeof path, "/proc/%s/task", argv[2]);
	period_ns = (long)(1e9 / atof(argv[3]));
	ticks = (long)(atof(argv[4]) * atof(argv[3]));
	clock_gettime(CLOCK_MONOTONIC, &due);
	tick(path, atoi(argv[1]), netlink, ends[0], (size_t)atol(argv[5]));
	began = cpu_us();
	for (long i = 0; i < ticks; i++) {
		due.tv_nsec += period_ns;
		due.tv_sec += due.tv_nsec / 1000000000;
		due.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		tick(path, atoi(argv[1]), netlink, ends[0], (size_t)atol(argv[5]));
	}
	printf("%.1f\n", (cpu_us() - began) / (double)ticks);
	return 0;
}
