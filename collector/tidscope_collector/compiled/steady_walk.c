/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk in one call: let the kernel write the counters of a process' threads, compare them with the
 * rows, and bring these up to date in place. That threads began, ended or have other names is noted.
 * The reference is ../walk/reader.py.
 */
#include "block.h"

enum { ITER_CREATE = 33, MAX_LOOKS = 1 << 16 };

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

/* Threads in the block that have rows one after the other. */
struct run_of_rows {
	__u64 place, row, count;
};

static int is_thread(const struct walk *w, __u64 place, __u64 row)
{
	return w->block->tid[place] == w->rows->tids[row] &&
	       w->block->start_ns[place] == w->starts[row];
}

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

/* Whether nothing of these threads fell; sets a bit for each column that differs. No delay is newly too
 * long. */
static int is_good(const struct walk *w, const struct run_of_rows *run, __u64 *differing)
{
	const struct block *b = w->block;
	struct rows *r = w->rows;

	for (__u64 i = 0; i < run->count; i++) {
		const __u64 *comm = b->comm[run->place + i], *was = w->comms + 2 * (run->row + i);

		r->news |= comm[0] != was[0] || comm[1] != was[1];
		if ((b->state[run->place + i] ^ w->states[run->row + i]) & DELAYS)
			return 0;
	}
	*differing = 0;
	for (__u64 f = 0; f < w->fields; f++) {
		const __u64 *now = b->counters[f] + run->place, *was = value_at(r, run->row, f);
		__u64 differs = 0, fell = 0;

		for (__u64 i = 0; i < run->count; i++)
			differs |= now[i] ^ was[i];
		if (!differs)
			continue;
		for (__u64 i = 0; i < run->count; i++)
			fell |= now[i] < was[i];
		if (fell ||
		    (w->delays >> f & 1 && gets_too_long(w, run->row, run->count, now, was)))
			return 0;
		*differing |= 1ULL << f;
	}
	return 1;
}

/* Brings their rows up to date. */
static void take(struct walk *w, const struct run_of_rows *run, __u64 differing)
{
	__u8 *changed = w->rows->changed + run->row;

	for (__u64 f = 0; f < w->fields; f++) {
		const __u64 *now = w->block->counters[f] + run->place;
		__u64 *was = value_at(w->rows, run->row, f);

		if (!(differing >> f & 1))
			continue;
		if (!f)
			for (__u64 i = 0; i < run->count; i++)
				w->ran += now[i] != was[i];
		for (__u64 i = 0; i < run->count; i++) {
			changed[i] |= now[i] != was[i];
			was[i] = now[i];
		}
	}
}

/* Rows from one on that are not in the block are gone, up to another one. */
static void set_gone(struct rows *r, __u64 from, __u64 to)
{
	r->news |= from < to;
	for (; from < to; from++)
		r->gone[from] = 1;
}

/* Takes in what is in the block; the row behind the last one found, or one beyond all rows if something
 * is not as expected. */
static __u64 take_block(struct walk *w, __u64 row, __u64 got)
{
	struct rows *r = w->rows;
	__u64 differing, looks = 0;

	for (__u64 place = 0; place < got;) {
		struct run_of_rows run = {place, row, 0};

		while (run.row < r->count && !is_thread(w, place, run.row))
			run.row++;
		looks += run.row - row;
		if (looks > MAX_LOOKS)
			return r->count + 1;
		if (run.row == r->count) {
			r->births++;
			place++;
			continue;
		}
		set_gone(r, row, run.row);
		while (place + run.count < got && run.row + run.count < r->count &&
		       is_thread(w, place + run.count, run.row + run.count)) {
			r->gone[run.row + run.count] = 0;
			run.count++;
		}
		if (!is_good(w, &run, &differing))
			return r->count + 1;
		take(w, &run, differing);
		row = run.row + run.count;
		place += run.count;
	}
	return row;
}

/* Fills the block; 1: there are more threads, 0: there are none, or -errno. */
static long fill(struct walk *w, long file, __u64 first)
{
	char byte;
	long result;

	if (w->program == (__u64)-1) {
		w->block->used = 0;
		do
			result = call(__NR_read, file, (long)&byte, 1, 0, 0, 0);
		while (result == -EAGAIN);
		return result;
	}
	result = first ? run_walk(w->program, w->block->tid[BLOCK_ROWS - 1], 1)
		       : run_walk(w->program, (__u32)w->pid, 0);
	return result < 0 ? result : w->block->used == BLOCK_ROWS;
}

/* Puts the main thread's row back if its id may stand for another thread, which executed a program: see
 * may_have_moved() of steady_sample.c. Whether it may. */
static int put_back(struct walk *w, const __u64 *was, __u8 changed)
{
	struct rows *r = w->rows;
	__u64 now_ns = *value_at(r, 0, 0);
	int moved = 0;

	for (__u64 i = 1; i < r->count; i++)
		moved |= r->gone[i] && was[0] < *value_at(r, i, 0) && *value_at(r, i, 0) <= now_ns;
	if (!moved)
		return 0;
	for (__u64 f = 0; f < w->fields; f++)
		*value_at(r, 0, f) = was[f];
	r->changed[0] = changed;
	return 1;
}

static long walk_all(struct walk *w, long file)
{
	struct rows *r = w->rows;
	__u64 row = 0, visited = 0, leader[BLOCK_FIELDS];
	__u8 changed = r->count ? r->changed[0] : 0;
	long more;

	if (w->fields > BLOCK_FIELDS)
		return OTHER_THREADS;
	for (__u64 f = 0; f < w->fields && r->count; f++)
		leader[f] = *value_at(r, 0, f);

	r->births = r->news = 0;
	do {
		__u64 got;

		more = fill(w, file, visited);
		if (more < 0)
			return more;
		got = w->block->used;
		if (got > BLOCK_ROWS)
			return OTHER_THREADS;
		row = take_block(w, row, got);
		if (row > r->count)
			return OTHER_THREADS;
		visited += got;
	} while (more);
	set_gone(r, row, r->count);
	/* The main thread is listed first. */
	if (r->news && r->count && r->tids[0] == w->pid && put_back(w, leader, changed))
		return OTHER_THREADS;
	r->news |= r->births != 0;
	/* A walk ends early where the thread visited last has ended. */
	return w->block->threads <= visited ? USUAL : OTHER_THREADS;
}

/* Walks; USUAL: the rows are up to date, but for threads that are gone. Otherwise some are, and are
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
		if (!r->gone[i])
			r->seen_ns[i] = w->starts[i] > listed ? w->starts[i] : listed;
	return USUAL;
}

const struct rows *rows_of_walk(const struct walk *w)
{
	return w->rows;
}
