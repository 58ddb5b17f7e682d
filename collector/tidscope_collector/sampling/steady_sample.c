/* SPDX-License-Identifier: Apache-2.0
 *
 * A sample in one call, where the threads of a process are those of the sample before: walk them,
 * ask for the counters of those that may have run, compare, and bring the rows up to date in place.
 *
 * After 100 ms of sleep nothing of a program is in the caches of a CPU: what a sample costs is how
 * much code it executes for the first time, and Python and numpy execute several hundred kilobytes of
 * it. This takes what is usual only. It writes nothing to the rows unless all of it is as expected:
 * where it is not, Python takes the sample (idle_skipping.py), which is the reference for this.
 *
 * No C library: nothing to link, the same bytes wherever it is built. steady_reader.py has struct
 * plan once more; a test compares the two. `make steady-sample` compiles it.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/time.h>
#include <linux/types.h>
#include <stddef.h>

#if defined(__x86_64__)
static long call(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#else
#error "only x86-64 is supported; elsewhere Python takes every sample"
#endif

enum { STEADY = 0, OTHER_THREADS = 1, ODD = 2 };
enum { BATCH = 128, ITER_CREATE = 33, DONTWAIT = 0x40, TRUNCATED = 0x20 };

/* struct record of discovery/bpf/task_iterator.bpf.c */
struct record {
	__u32 tid, runnable;
	__u64 start_ns, run_ns, switches, comm[2];
};

/* A request for the statistics of one thread: headers of netlink and generic netlink, an attribute. */
struct request {
	__u32 length;
	__u16 type, flags;
	__u32 sequence, port;
	__u8 command, version;
	__u16 reserved, attr_length, attr_type;
	__u32 tid;
};

/* struct mmsghdr of 64-bit Linux */
struct message {
	__u64 name;
	__u32 name_bytes, pad;
	__u64 vectors, vector_count, control, control_bytes;
	__u32 flags, pad2, length, pad3;
};

/* All members are 8 bytes wide, addresses too; offsets are in bytes. */
struct plan {
	/* the walk */
	__u64 link, threads;
	struct record *now;    /* room for one more than `threads` */
	struct record *before; /* of the walk before; brought up to date */
	/* the question */
	__u64 socket, sequence;
	struct request *requests;
	__u32 *rows; /* room for `threads`: which row each request is for */
	/* the answers, one in a slot */
	struct message *messages;
	__u8 *slots;
	__u64 stride, lead;
	__u32 *senders; /* three words each; the second is the port, 0 for the kernel */
	/* what each answer has to look like; places are 32-bit words */
	__u64 length;
	__u64 *places;
	__u32 *values;
	__u64 checks, thread, stats, version, pid_at, tgid_at, tgid, age_at;
	/* the rows */
	__u64 *words; /* which 64-bit words of the statistics make the first `fields` columns */
	__u64 fields, width;
	__u64 *counters;
	__u8 *absent; /* of the same shape; 0: nothing is */
	__u8 *changed;
	__s64 *seen_ns;
	/* network slots (netacct/slots.py); `net` 0: there are none */
	__u8 *net;
	__u32 *net_used;
	__u64 *net_uncounted;
	__u64 net_expected, net_most, net_stride, net_tgid, net_tid, net_start, net_exit, net_counters;
	__u32 *net_rows; /* of each slot a row that it may be of */
	/* what came of it */
	__u64 asked, got, listed_ns;
};

static __s64 now_ns(void)
{
	struct timespec { long s, ns; } time;

	call(__NR_clock_gettime, 1, (long)&time, 0, 0, 0, 0);
	return time.s * 1000000000 + time.ns;
}

/* Reads the list of threads; how many bytes it has, or -errno. */
static long walk(struct plan *p)
{
	struct { __u32 link, flags; } create = {(__u32)p->link, 0};
	long room = (long)((p->threads + 1) * sizeof(struct record)), total = 0, more;
	long file = call(__NR_bpf, ITER_CREATE, (long)&create, sizeof create, 0, 0, 0);

	if (file < 0)
		return file;
	do {
		more = call(__NR_read, file, (long)p->now + total, room - total, 0, 0, 0);
		if (more > 0)
			total += more;
	} while (more == -EAGAIN || (more > 0 && total < room));
	call(__NR_close, file, 0, 0, 0, 0, 0);
	return more < 0 ? more : total;
}

/* Whether the threads are those of the walk before; makes the requests for those that may have run. */
static int same_threads(struct plan *p)
{
	__u64 asked = 0;

	for (__u64 i = 0; i < p->threads; i++) {
		const struct record *now = &p->now[i], *was = &p->before[i];

		if (now->tid != was->tid || now->start_ns != was->start_ns ||
		    now->comm[0] != was->comm[0] || now->comm[1] != was->comm[1])
			return 0;
		if (!now->runnable && now->runnable == was->runnable && now->run_ns == was->run_ns &&
		    now->switches == was->switches)
			continue;
		p->requests[asked].tid = now->tid;
		p->requests[asked].sequence = (__u32)(p->sequence + asked);
		p->rows[asked++] = (__u32)i;
	}
	p->asked = asked;
	return 1;
}

static __u32 half(const __u8 *at)
{
	return *(const __u32 *)at;
}

/* Whether an answer is the statistics of the thread that was asked for, and nothing in it fell. */
static int is_good(const struct plan *p, __u64 k, __s64 before, __s64 listed)
{
	const __u8 *data = p->slots + k * p->stride + p->lead, *stats = data + p->stats;
	const struct message *message = &p->messages[k];
	__u32 tid = p->requests[k].tid;
	const __u64 *row = p->counters + p->rows[k] * p->width;
	const __u8 *absent = p->absent ? p->absent + p->rows[k] * p->width : NULL;

	if (message->length != p->length || message->flags & TRUNCATED || p->senders[3 * k + 1])
		return 0;
	for (__u64 i = 0; i < p->checks; i++)
		if (half(data + 4 * p->places[i]) != p->values[i])
			return 0;
	if (half(data + 8) != p->requests[k].sequence || half(data + p->thread) != tid)
		return 0;
	if ((half(stats) & 0xffff) != p->version || half(stats + p->pid_at) != tid)
		return 0;
	if (p->tgid_at && half(stats + p->tgid_at) != p->tgid)
		return 0;
	/* It began after the walk: another thread, under a used id. */
	if (before - (__s64)(*(const __u64 *)(stats + p->age_at) * 1000) > listed)
		return 0;
	for (__u64 f = 0; f < p->fields; f++) {
		__u64 value = ((const __u64 *)stats)[p->words[f]];

		if (value < row[f] || (value && absent && absent[f]))
			return 0;
	}
	return 1;
}

/* Asks, batch by batch, and checks every answer; STEADY, ODD, or -errno. */
static long ask(struct plan *p, __s64 listed)
{
	p->got = 0;
	for (__u64 start = 0; start < p->asked; start += BATCH) {
		__u64 end = start + BATCH < p->asked ? start + BATCH : p->asked;
		__s64 before = now_ns();
		long done = call(__NR_sendto, (long)p->socket, (long)&p->requests[start],
				 (long)((end - start) * sizeof(struct request)), 0, 0, 0);

		if (done < 0)
			return done;
		/* The kernel has answered by now; so many answers and no more are taken: one call. */
		done = call(__NR_recvmmsg, (long)p->socket, (long)&p->messages[start],
			    (long)(end - start), DONTWAIT, 0, 0);
		if (done < 0)
			return done == -EAGAIN || done == -ENOBUFS ? ODD : done;
		p->got += (__u64)done;
		if (p->got != end)
			return ODD;
		for (__u64 k = start; k < end; k++)
			if (!is_good(p, k, before, listed))
				return ODD;
	}
	return STEADY;
}

static void set(struct plan *p, __u64 row, __u64 column, __u64 value)
{
	__u64 *at = &p->counters[row * p->width + column];

	if (*at != value) {
		*at = value;
		p->changed[row] = 1;
	}
}

/* The row of the thread that a network slot is of; `threads` if it is of none of them. */
static __u64 row_of(struct plan *p, __u64 slot, __u32 tid)
{
	__u64 row = p->net_rows[slot];

	if (row < p->threads && p->now[row].tid == tid)
		return row;
	for (row = 0; row < p->threads && p->now[row].tid != tid; row++)
		;
	p->net_rows[slot] = (__u32)row;
	return row;
}

/* Compares the network counters with their columns, or writes them there; whether none fell. */
static int network(struct plan *p, __s64 listed, int commit)
{
	__u64 used = p->net ? *(volatile __u32 *)p->net_used : 0;

	if (used > p->net_most)
		used = p->net_most;
	for (__u64 i = 0; i < used; i++) {
		const __u8 *slot = p->net + i * p->net_stride;
		__u64 row;

		if (half(slot + p->net_tgid) != p->tgid || *(const __s64 *)(slot + p->net_exit) ||
		    *(const __s64 *)(slot + p->net_start) > listed)
			continue;
		row = row_of(p, i, half(slot + p->net_tid));
		if (row == p->threads)
			continue;
		for (__u64 f = 0; f < p->width - p->fields; f++) {
			__u64 value = *(volatile const __u64 *)(slot + p->net_counters + 8 * f);

			if (value > p->counters[row * p->width + p->fields + f] && commit)
				set(p, row, p->fields + f, value);
			else if (value < p->counters[row * p->width + p->fields + f])
				return 0;
		}
	}
	return 1;
}

/* Takes a sample; STEADY: the rows are up to date. Otherwise they are as they were: OTHER_THREADS,
 * ODD: what came is to be looked at, -errno. */
__attribute__((visibility("default"))) long steady_sample(struct plan *p)
{
	__s64 listed = now_ns();
	long result;

	p->listed_ns = (__u64)listed;
	if (p->net && *(volatile __u64 *)p->net_uncounted != p->net_expected)
		return OTHER_THREADS;
	result = walk(p);
	if (result < 0)
		return result;
	if (result != (long)(p->threads * sizeof(struct record)) || !same_threads(p))
		return OTHER_THREADS;
	result = ask(p, listed);
	if (result != STEADY)
		return result;
	if (!network(p, listed, 0))
		return ODD;
	for (__u64 k = 0; k < p->asked; k++) {
		const __u64 *stats =
			(const __u64 *)(p->slots + k * p->stride + p->lead + p->stats);

		for (__u64 f = 0; f < p->fields; f++)
			set(p, p->rows[k], f, stats[p->words[f]]);
		p->before[p->rows[k]] = p->now[p->rows[k]];
	}
	network(p, listed, 1);
	for (__u64 i = 0; i < p->threads; i++)
		p->seen_ns[i] = listed;
	return STEADY;
}
