/* Waits for the other end of a socket; see incident.c. */
#define _GNU_SOURCE
#include "incident.h"
#include <netinet/in.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

/* Server that streams to a client who reads slowly; the twin's client reads. */
static void *send_all(void *of)
{
	static char block[1 << 16];
	int to = (intptr_t)of;

	for (;;) {
		if (send(to, block, sizeof block, MSG_NOSIGNAL) < 0)
			return NULL;
		if (!fault)
			sleep_us(10000);
	}
}

void slow_client(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof address;
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	static char block[1 << 16];

	if (bind(listening, (struct sockaddr *)&address, bytes) || listen(listening, 16))
		exit(1);
	getsockname(listening, (struct sockaddr *)&address, &bytes);
	if (!fork()) {
		int streams[4];

		pthread_setname_np(pthread_self(), "slow-client");
		for (int i = 0; i < 4; i++) {
			streams[i] = socket(AF_INET, SOCK_STREAM, 0);
			if (connect(streams[i], (struct sockaddr *)&address, sizeof address))
				_exit(1);
		}
		for (;;) {
			ssize_t some = 0;

			for (int i = 0; i < 4; i++)
				some = recv(streams[i], block, fault ? 4096 : sizeof block, 0);
			if (some <= 0)
				_exit(0);
			if (fault)
				sleep_us(100000);
		}
	}
	for (int i = 0; i < 4; i++) {
		char name[16];

		snprintf(name, sizeof name, "sender-%d", i);
		start(name, send_all, (void *)(intptr_t)accept(listening, NULL, NULL));
	}
}

/* Resolvers that ask a server over UDP, which answers after 0.3 s; the twin's at once. */
static struct sockaddr_in resolver;

static void *resolve(void *unused)
{
	int by = socket(AF_INET, SOCK_DGRAM, 0);
	char answer[64];

	connect(by, (struct sockaddr *)&resolver, sizeof resolver);
	for (;;) {
		send(by, "name", 4, 0);
		recv(by, answer, sizeof answer, 0);
		sleep_us(20000);
	}
	return NULL;
}

void resolvers(void)
{
	socklen_t bytes = sizeof resolver;
	int at = socket(AF_INET, SOCK_DGRAM, 0);

	resolver = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(at, (struct sockaddr *)&resolver, bytes))
		exit(1);
	getsockname(at, (struct sockaddr *)&resolver, &bytes);
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "name-server");
		for (;;) {
			struct sockaddr_in who;
			char question[64];

			bytes = sizeof who;
			recvfrom(at, question, sizeof question, 0, (struct sockaddr *)&who, &bytes);
			if (fault)
				sleep_us(300000);
			sendto(at, "192.0.2.1", 9, 0, (struct sockaddr *)&who, bytes);
		}
	}
	close(at);
	start_many(4, "lookup", resolve);
}

/* Writers to a collector of logs over Unix sockets, which takes 40 KiB a second; the twin's reads. */
static void *write_log(void *of)
{
	static char line[4096];

	for (;;) {
		if (send((intptr_t)of, line, sizeof line, MSG_NOSIGNAL) < 0)
			return NULL;
		sleep_us(fault ? 100 : 10000);
	}
}

void unix_reader(void)
{
	int ends[3][2];

	for (int i = 0; i < 3; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			exit(1);
	if (!fork()) {
		static char some[1 << 16];

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "log-shipper");
		for (int i = 0; i < 3; i++)
			close(ends[i][0]);
		for (;;) {
			for (int i = 0; i < 3; i++)
				recv(ends[i][1], some, fault ? 4096 : sizeof some, 0);
			if (fault)
				sleep_us(100000);
		}
	}
	for (intptr_t i = 0; i < 3; i++) {
		char name[16];

		close(ends[i][1]);
		snprintf(name, sizeof name, "logging-%d", (int)i);
		start(name, write_log, (void *)(intptr_t)ends[i][0]);
	}
}
