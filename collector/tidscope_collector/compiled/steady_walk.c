/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk in one call, where the threads of a process are those of the walk before: let the kernel
 * write their counters, compare, and bring the rows up to date in place. The reference is
 * ../walk/reader.py.
 */
#include "common.h"

enum { BLOCK_ROWS = 4096, BLOCK_FIELDS = 30, STRIDE = BLOCK_ROWS + 8, DELAYS = 2 };
enum { PROG_RUN = 10, ITER_CREATE = 33 };

/* Of ../discovery/bpf/task_iterator.bpf.c */
struct block {
	__u32 used, threads;
	__u64 given, spare[6];
	__u32 tid[BLOCK_ROWS], state[BLOCK_ROWS];
	__s64 start_ns[BLOCK_ROWS];
	__u64 comm[BLOCK_ROWS][2];
	__u64 counters[BLOCK_FIELDS][STRIDE];
};

/* The part of union bpf_attr that runs a program (linux/bpf.h). */
struct run {
	__u32 program, result, data_in_bytes, data_out_bytes;
	__u64 data_in, data_out;
	__u32 repeat, took_ns, context_in_bytes, context_out_bytes;
	__u64 context_in, context_out;
	__u32 flags, cpu, batch, pad;
};

struct walk {
	struct rows *rows;	 /* row_step is 1 */
	struct network *network; /* 0: there is none */
	__u64 link, program;	 /* descriptors; whichever is not -1 walks */
	__u64 pid;
	struct block *block;
	__u64 fields; /* columns of the block that are the first ones of the rows */
	__u64 delays; /* a bit for each column that is a delay */
	/* of each row, as it was when the rows were made */
	__u32 *states;
	__s64 *starts;
	__u64 *comms; /* two each */
	/* what came of it */
	__u64 ran, listed_ns;
};

/* Whether a delay of threads in the block has become longer than their lives. */
static int gets_too_long(const struct walk *w, __u64 first, __u64 got, const __u64 *now,
			 const __u64 *was)
{
	int found = 0;

	for (__u64 i = 0; i < got; i++)
		found |= is_too_long(now[i], was[i],
				     (__s64)w->listed_ns - w->starts[first + i]);
	return found;
}

/* Whether the threads in the block are those of the rows from `first` on, and nothing fell. Sets a
 * bit for each column that differs. No delay is newly too long. */
static int is_same(const struct walk *w, __u64 first, __u64 got, __u64 *differing)
{
	const struct block *b = w->block;
	const struct rows *r = w->rows;

	for (__u64 i = 0; i < got; i++)
		if (b->tid[i] != r->tids[first + i] || b->start_ns[i] != w->starts[first + i] ||
		    b->comm[i][0] != w->comms[2 * (first + i)] ||
		    b->comm[i][1] != w->comms[2 * (first + i) + 1] ||
		    ((b->state[i] ^ w->states[first + i]) & DELAYS))
			return 0;
	*differing = 0;
	for (__u64 f = 0; f < w->fields; f++) {
		const __u64 *now = b->counters[f], *was = value_at(r, first, f);
		__u64 differs = 0, fell = 0;

		for (__u64 i = 0; i < got; i++)
			differs |= now[i] ^ was[i];
		if (!differs)
			continue;
		for (__u64 i = 0; i < got; i++)
			fell |= now[i] < was[i];
		if (fell || (w->delays >> f & 1 && gets_too_long(w, first, got, now, was)))
			return 0;
		*differing |= 1ULL << f;
	}
	return 1;
}

/* Brings the rows from `first` on up to date. */
static void take_block(struct walk *w, __u64 first, __u64 got, __u64 differing)
{
	__u8 *changed = w->rows->changed + first;

	for (__u64 f = 0; f < w->fields; f++) {
		const __u64 *now = w->block->counters[f];
		__u64 *was = value_at(w->rows, first, f);

		if (!(differing >> f & 1))
			continue;
		if (!f)
			for (__u64 i = 0; i < got; i++)
				w->ran += now[i] != was[i];
		for (__u64 i = 0; i < got; i++) {
			changed[i] |= now[i] != was[i];
			was[i] = now[i];
		}
	}
}

/* Fills the block; 1: there are more threads, 0: there are none, or -errno. */
static long fill(struct walk *w, long file, __u64 first)
{
	struct { __u32 tid, after; } from = {(__u32)w->pid, 0};
	struct run run = {(__u32)w->program, .context_in = (__u64)&from,
			  .context_in_bytes = sizeof from};
	char byte;
	long result;

	if (w->program == (__u64)-1) {
		w->block->used = 0;
		do
			result = call(__NR_read, file, (long)&byte, 1, 0, 0, 0);
		while (result == -EAGAIN);
		return result;
	}
	if (first) {
		from.tid = w->block->tid[BLOCK_ROWS - 1];
		from.after = 1;
	}
	result = call(__NR_bpf, PROG_RUN, (long)&run, sizeof run, 0, 0, 0);
	return result < 0 ? result : w->block->used == BLOCK_ROWS;
}

static long walk_all(struct walk *w, long file)
{
	__u64 first = 0, differing;
	long more;

	do {
		__u64 got;

		more = fill(w, file, first);
		if (more < 0)
			return more;
		got = w->block->used;
		if (got > BLOCK_ROWS || first + got > w->rows->count ||
		    !is_same(w, first, got, &differing))
			return OTHER_THREADS;
		take_block(w, first, got, differing);
		first += got;
	} while (more);
	return first == w->rows->count && w->block->threads <= first ? USUAL : OTHER_THREADS;
}

/* Walks; USUAL: the rows are up to date. Otherwise those of a block that was as expected are, and are
 * marked: Python's walk goes on from there. */
long steady_walk(struct walk *w)
{
	struct { __u32 link, flags; } create = {(__u32)w->link, 0};
	const struct rows *r = w->rows;
	__s64 listed = clock_ns(MONOTONIC);
	long file = -1, result;

	w->listed_ns = (__u64)listed;
	w->ran = 0;
	if (!network_complete(w->network))
		return OTHER_THREADS;
	if (w->program == (__u64)-1) {
		file = call(__NR_bpf, ITER_CREATE, (long)&create, sizeof create, 0, 0, 0);
		if (file < 0)
			return file;
	}
	result = walk_all(w, file);
	if (file >= 0)
		call(__NR_close, file, 0, 0, 0, 0, 0);
	if (result != USUAL)
		return result;
	if (!take_network(w->network, r, listed, 0))
		return OTHER_THREADS;
	take_network(w->network, r, listed, 1);
	for (__u64 i = 0; i < r->count; i++)
		r->seen_ns[i] = w->starts[i] > listed ? w->starts[i] : listed;
	return USUAL;
}
