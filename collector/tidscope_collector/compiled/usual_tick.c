/* SPDX-License-Identifier: Apache-2.0
 *
 * A tick in which nothing is taken in but counters that grow: the sample, a look whether anything else
 * happened, and the frame. Where anything did that does not wait, Python goes on with what is done by
 * then.
 */
#include "common.h"

enum { PATH_BYTES = 512, POLL_MOST = 4096 };

/* Whether the process runs the program that it ran before, as far as can be seen. */
static int same_program(const struct tick *t)
{
	char found[PATH_BYTES];
	long bytes;

	if (!t->path)
		return 1;
	bytes = call(__NR_readlinkat, (long)t->folder, (long)t->path, (long)found, PATH_BYTES, 0, 0);
	if (bytes < 0)
		return 1;
	if (bytes != (long)t->executable_bytes)
		return 0;
	for (long i = 0; i < bytes; i++)
		if (found[i] != t->executable[i])
			return 0;
	return 1;
}

/* Makes the frame after EXITS or TO_COMPLETE. */
__attribute__((visibility("default"))) long frame_of_tick(struct tick *t)
{
	join_rows(t->ledgers);
	return usual_frame(t->frame);
}

/* Takes a sample and makes the frame; see common.h for what it returns. */
__attribute__((visibility("default"))) long usual_tick(struct tick *t)
{
	const struct rows *rows = t->plan ? rows_of_plan(t->plan) : rows_of_walk(t->walk);
	struct { long s, ns; } now = {0, 0};
	__s64 began = clock_ns(THREAD_CPU);
	long result;

	t->exits = 0;

	/* First, so that they are of the sample's own time. */
	if (!take_ledgers(t->ledgers))
		return OTHER_THREADS;
	result = t->plan ? steady_sample(t->plan) : steady_walk(t->walk);
	t->sample_cpu_ns = (__u64)(clock_ns(THREAD_CPU) - began);
	if (result != USUAL)
		return result;
	t->news |= rows->news;
	if (!t->frame) {
		if (rows->news)
			return OTHER_THREADS;
		join_rows(t->ledgers);
		return USUAL;
	}
	/* After the walk: a thread that it did not visit any more has its exit record here. */
	result = call(__NR_ppoll, (long)t->watched, (long)t->watched_count, (long)&now, 0, 0, 0);
	if (result < 0)
		return result;
	if (result && t->watched[0].found)
		return OTHER_THREADS;
	if (!same_program(t))
		return OTHER_THREADS;
	t->exits = result != 0;
	t->news |= t->exits && !t->drains;
	if (t->news && !t->waits)
		return OTHER_THREADS;
	if (t->exits && t->drains)
		return EXITS;
	return t->incomplete ? TO_COMPLETE : frame_of_tick(t);
}
