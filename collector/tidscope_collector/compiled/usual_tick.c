/* SPDX-License-Identifier: Apache-2.0
 *
 * A tick in which nothing is taken in but counters that grow: the sample, a look whether anything else
 * happened, and the frame. Where anything did that does not wait, Python goes on with what is done by
 * then.
 */
#include "common.h"

enum { PATH_BYTES = 512, MAX_POLL = 4096 };
enum { POLLIN = 1, NOW = 0x4040 /* MSG_DONTWAIT, MSG_NOSIGNAL */ };
enum { PATIENCE_NS = 5000000 /* as PATIENCE_S of ../inspection/gomaxprocs.py */ };

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

/* Asks the child; whether it could be asked. */
static int ask_child(struct tick *t)
{
	static const char question = '?';

	if (!t->asks)
		return 1;
	t->asked = call(__NR_sendto, (long)t->child, (long)&question, 1, NOW, 0, 0) == 1;
	return (int)t->asked;
}

/* Whether the child answers soon, and what it answered before. */
static int same_answer(struct tick *t)
{
	struct pollfd one = {(int)t->child, POLLIN, 0};
	struct { long s, ns; } patience = {0, PATIENCE_NS};
	__s32 answer;
	long bytes;

	if (!t->asks)
		return 1;
	if (call(__NR_ppoll, (long)&one, 1, (long)&patience, 0, 0, 0) <= 0)
		return 0;
	t->asked = 0;
	bytes = call(__NR_recvfrom, (long)t->child, (long)&answer, sizeof answer, NOW, 0, 0);
	return bytes == sizeof answer && answer == (__s32)t->answer;
}

/* Makes the frame after EXITS or TO_COMPLETE. */
__attribute__((visibility("default"))) long frame_of_tick(struct tick *t)
{
	join_rows(t->ledgers);
	return usual_frame(t->frame);
}

static long take(struct tick *t)
{
	const struct rows *rows = t->plan ? rows_of_plan(t->plan) : rows_of_walk(t->walk);
	struct { long s, ns; } now = {0, 0};
	__s64 began = clock_ns(THREAD_CPU);
	long result;

	t->exits = 0;
	if (t->frame && !ask_child(t))
		return OTHER_THREADS;

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
	if (!same_answer(t) || !same_program(t))
		return OTHER_THREADS;
	t->exits = result != 0;
	t->news |= t->exits && !t->drains;
	if (t->news && !t->waits)
		return OTHER_THREADS;
	if (t->exits && t->drains)
		return EXITS;
	return t->incomplete ? TO_COMPLETE : frame_of_tick(t);
}

/* Takes a sample and makes the frame; see common.h for what it returns. */
__attribute__((visibility("default"))) long usual_tick(struct tick *t)
{
	long result = take(t);

	if (t->asked)
		same_answer(t); /* so that Python finds nothing on its way, where it asks itself */
	return result;
}
