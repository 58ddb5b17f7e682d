/* SPDX-License-Identifier: Apache-2.0
 *
 * What the compiled parts of the collector share: system calls without a C library, and the rows of
 * threads that they bring up to date in place.
 *
 * After 100 ms of sleep nothing of a program is in the caches of a CPU: what a sample costs is how
 * much code it executes for the first time, and Python and numpy execute several hundred kilobytes of
 * it. These take what is usual only, and write nothing to the rows unless all of it is as expected:
 * where it is not, Python takes the sample, which is the reference for them.
 *
 * Nothing to link, the same bytes wherever it is built: `make usual-tick` compiles it. All members of
 * structs that Python fills are 8 bytes wide, addresses too; structs.py has them once more, and a test
 * compares the two.
 */
#ifndef TIDSCOPE_COMMON_H
#define TIDSCOPE_COMMON_H
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/time.h>
#include <linux/types.h>
#include <stddef.h>

#if defined(__x86_64__)
static inline long call(long n, long a, long b, long c, long d, long e, long f)
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

/* What a part returns; -errno where the kernel refused. */
enum {
	USUAL = 0,
	OTHER_THREADS = 1, /* there is more to be taken in than counters; Python does */
	ODD = 2,	   /* what came is to be looked at */
	EXITS = 3,	   /* the rows are up to date, and exit records wait */
	TO_COMPLETE = 4,   /* the rows are up to date as far as this goes, and are to be completed */
	NO_ROOM = 5,	   /* for the frame */
	WANTED = 6	   /* Python is, before the next tick */
};

/* Rows of threads; a value is at row * row_step + column * column_step. */
struct rows {
	__u64 count, width;
	__u64 *counters;
	__u64 row_step, column_step;
	__u8 *absent; /* 0: nothing is */
	__u64 absent_row_step, absent_column_step;
	__u8 *changed; /* who takes the rows in sets it to 0 */
	__s64 *seen_ns;
	__u32 *tids;
	/* of the last sample */
	__u8 *gone;   /* threads that were not there */
	__u64 births; /* threads that were there and have no row */
	__u64 news;   /* whether there were any of these, or names that changed */
};

/* Where the network counters of threads are (netacct/slots.py); members named _at are offsets. */
struct network {
	__u8 *slots;
	__u32 *used;
	__u64 *uncounted;
	__u64 expected, most, stride, tgid, tgid_at, tid_at, start_at, exit_at, counters_at;
	__u64 first_column;
	__u32 *rows; /* of each slot a row that it may be of */
};

/* Rows beside which ledgers of the threads' states stand, and where those are (waits/slots.py). */
struct ledgers {
	struct rows *rows; /* all columns */
	struct rows *base; /* those that a sample brings up to date; the first columns of the rows */
	__u8 *slots;
	__u64 stride, states, first_column, attach_ns;
	__u64 mark_at, woken_at, arrived_at, began_at, ns_at;
	__u64 tgid, tgid_at, tid_at; /* whose a slot is; one that was freed is nobody's */
	__s64 *slot_of; /* of each row; -1: there is none */
	__u64 *known;	/* of each row what was read last: mark, woken, arrived */
};

enum { DELAY_SLACK_NS = 20000000 };
enum { MONOTONIC = 1, REALTIME = 0, THREAD_CPU = 3 };

static inline __s64 clock_ns(int clock)
{
	struct timespec { long s, ns; } time;

	call(__NR_clock_gettime, clock, (long)&time, 0, 0, 0, 0);
	return time.s * 1000000000 + time.ns;
}

/* Whether a delay has become longer than the life of its thread: it cannot be, and Python corrects it
 * (../sampling/valid_delays.py). */
static inline int is_too_long(__u64 now, __u64 before, __s64 life_ns)
{
	__u64 most = (__u64)(life_ns + DELAY_SLACK_NS);

	return now > most && before <= most;
}

static inline __u32 half(const __u8 *at)
{
	return *(const __u32 *)at;
}

static inline __u64 *value_at(const struct rows *r, __u64 row, __u64 column)
{
	return &r->counters[row * r->row_step + column * r->column_step];
}

static inline void set(const struct rows *r, __u64 row, __u64 column, __u64 value)
{
	__u64 *at = value_at(r, row, column);

	if (*at != value) {
		*at = value;
		r->changed[row] = 1;
	}
}

struct plan;
struct walk;

/* What stands in front of the columns of a batch with so many of them; members named _at are offsets
 * of numbers in it. */
struct metadata {
	__u8 *message;
	__u64 size, length_at, body_at, nodes_at, buffers_at;
};

/* A frame, as it is made. */
struct frame {
	struct rows *rows;
	__u32 *chosen;		   /* room for all rows */
	struct metadata *metadata; /* by number of counter columns */
	/* the frame up to its rows, and where in it numbers are written, 20 bytes each */
	__u8 *header;
	__u64 header_bytes, seq_at, first_seq_at, rows_at, time_at, unix_at, sample_at, late_at;
	__u64 columns_at, columns_bytes; /* which columns there are */
	__u8 *out;
	__u64 room;
	__u64 attach_ns;
	/* of this frame */
	__u64 seq, started_ns, late_us;
	/* what came of it */
	__u64 size, sample_us, sent_rows;
};

struct pollfd {
	int descriptor;
	short wanted, found;
};

/* A tick, as it is taken. */
struct tick {
	struct plan *plan; /* one of the two is 0 */
	struct walk *walk;
	struct frame *frame;
	struct ledgers *ledgers; /* 0: there are none */
	/* what is readable when something happened: first the process, if it ended */
	struct pollfd *watched;
	__u64 watched_count;
	/* the process' executable: a path below a folder, and what it links to; 0: it is not looked at */
	__u64 folder;
	char *path;
	char *executable;
	__u64 executable_bytes;
	/* a child that answers each byte with an int32 (../inspection/gomaxprocs.py); asks: whether there is one */
	__u64 asks, child, answer; /* what it answered last; another one is Python's */
	__u64 asked;		   /* whether an answer is still to come */
	__u64 incomplete; /* whether Python completes the rows before there is a frame */
	__u64 waits;	  /* whether births, ends and names wait for a later tick; not without a frame */
	__u64 drains;	  /* whether exit records do not wait even then */
	/* what came of it: CPU of the sample; whether something waits; whether exit records do */
	__u64 sample_cpu_ns, news, exits;
};


/* Whether what is counted is all that there is. */
int network_complete(const struct network *n);
/* Compares the network counters with their columns, or writes them there; whether none fell. */
int take_network(const struct network *n, const struct rows *r, __s64 listed, int commit);

/* Brings the columns of ledgers up to date; whether all could be read. */
int take_ledgers(const struct ledgers *l);
/* Puts what a sample has changed beside them. */
void join_rows(const struct ledgers *l);

const struct rows *rows_of_plan(const struct plan *p);
const struct rows *rows_of_walk(const struct walk *w);
long steady_sample(struct plan *p);
long steady_walk(struct walk *w);
long usual_frame(struct frame *f);
/* Numbers the question of the next tick; 0: there is none. */
void next_question(struct plan *p);
__attribute__((visibility("default"))) long usual_tick(struct tick *t);
#endif
