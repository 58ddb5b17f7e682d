/* SPDX-License-Identifier: Apache-2.0
 *
 * A sample by asking, in one call: walk the threads of a process, ask for the counters of those that
 * may have run and have a row, compare, and bring the rows up to date in place. That threads began,
 * ended or have other names is noted. The reference is ../sampling/idle_skipping.py.
 */
#include "block.h"

enum { MAX_LOOKS = 1 << 16 };
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

struct plan {
	struct rows *rows;
	struct network *network; /* 0: there is none */
	/* the walk: by a program that fills a block, or, where that is -1, by an iterator's link */
	__u64 link, program;
	struct block *block;
	struct record *now;    /* room for more than there are rows */
	__u64 now_room;
	struct record *before; /* of each row, of when it was asked for last */
	/* the question */
	__u64 socket, sequence;
	struct request *requests;
	__u32 *asking; /* room for all rows: which of them each request is for */
	__u32 *found;  /* of each request the record of its thread */
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
	/* which 64-bit words of the statistics make the first `fields` columns */
	__u64 *words;
	__u64 fields, delays; /* a bit for each column that is a delay */
	/* what came of it */
	__u64 asked, got, listed_ns;
	__u64 numbers; /* of questions that are the sample's */
};

enum { RUN = 0, VOLUNTARY = 5, INVOLUNTARY = 6 }; /* columns of a block */

/* Lists the threads in one call, for a third of what making and reading a file takes; how many, or
 * -errno; -E2BIG: the iterator is to be asked. */
static long list_at_once(const struct plan *p)
{
	const struct block *b = p->block;
	long result = run_walk(p->program, (__u32)p->tgid, 0);

	if (result < 0)
		return result;
	/* More follow, or the thread visited last had ended. */
	if (b->used >= BLOCK_ROWS || b->used > p->now_room || b->used < b->threads)
		return -E2BIG;
	for (__u64 i = 0; i < b->used; i++) {
		struct record *now = &p->now[i];

		now->tid = b->tid[i];
		now->runnable = b->state[i] & RUNNABLE;
		now->start_ns = (__u64)b->start_ns[i];
		now->run_ns = b->counters[RUN][i];
		now->switches = b->counters[VOLUNTARY][i] + b->counters[INVOLUNTARY][i];
		now->comm[0] = b->comm[i][0];
		now->comm[1] = b->comm[i][1];
	}
	return b->used;
}

/* Reads the list of threads; how many bytes it has, or -errno. */
static long walk(struct plan *p)
{
	struct { __u32 link, flags; } create = {(__u32)p->link, 0};
	long room = (long)(p->now_room * sizeof(struct record)), total = 0, more;
	long file;

	if (p->program != (__u64)-1) {
		more = list_at_once(p);
		if (more != -E2BIG)
			return more < 0 ? more : more * (long)sizeof(struct record);
	}
	file = call(__NR_bpf, ITER_CREATE, (long)&create, sizeof create, 0, 0, 0);
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

static int is_thread(const struct record *now, const struct record *was)
{
	return now->tid == was->tid && now->start_ns == was->start_ns;
}

/* Whether the main thread's id may stand for another thread, which executed a program (execve(2)): one
 * that is gone had run for longer than the main thread had, and no longer than that id has now. */
static int may_have_moved(const struct plan *p)
{
	const struct rows *r = p->rows;
	__u64 was_ns = 0, now_ns = 0;

	for (__u64 k = 0; k < p->asked; k++)
		if (p->requests[k].tid == p->tgid) {
			was_ns = p->before[p->asking[k]].run_ns;
			now_ns = p->now[p->found[k]].run_ns;
		}
	for (__u64 i = 0; i < r->count; i++)
		if (r->gone[i] && was_ns < p->before[i].run_ns && p->before[i].run_ns <= now_ns)
			return 1;
	return 0;
}

/* Finds the threads that have rows among so many that are there, which stand in the same order; makes
 * the requests for those that may have run. Whether that did not take too long. */
static int match_threads(struct plan *p, __u64 there)
{
	struct rows *r = p->rows;
	__u64 asked = 0, next = 0, looks = 0;

	r->births = r->news = 0;
	for (__u64 i = 0; i < r->count; i++) {
		const struct record *was = &p->before[i], *now;
		__u64 at = next;

		while (at < there && !is_thread(&p->now[at], was))
			at++;
		looks += at - next;
		if (looks > MAX_LOOKS)
			return 0;
		r->gone[i] = at == there;
		if (r->gone[i]) {
			r->news = 1;
			continue;
		}
		r->births += at - next;
		next = at + 1;
		now = &p->now[at];
		r->news |= now->comm[0] != was->comm[0] || now->comm[1] != was->comm[1];
		if (!now->runnable && now->runnable == was->runnable && now->run_ns == was->run_ns &&
		    now->switches == was->switches)
			continue;
		p->requests[asked].tid = now->tid;
		p->requests[asked].sequence = (__u32)(p->sequence + asked);
		p->found[asked] = (__u32)at;
		p->asking[asked++] = (__u32)i;
	}
	r->births += there - next;
	r->news |= r->births != 0;
	p->asked = asked;
	return 1;
}

/* Whether an answer is the statistics of the thread that was asked for, nothing in it fell, and no
 * delay is newly too long. */
static int is_good(const struct plan *p, __u64 k, __s64 before, __s64 listed)
{
	const __u8 *data = p->slots + k * p->stride + p->lead, *stats = data + p->stats;
	const struct message *message = &p->messages[k];
	__u32 tid = p->requests[k].tid;
	const struct rows *r = p->rows;
	__u64 row = p->asking[k];
	__s64 life = listed - (__s64)p->before[row].start_ns;

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

		if (value < *value_at(r, row, f))
			return 0;
		if (p->delays >> f & 1 && is_too_long(value, *value_at(r, row, f), life))
			return 0;
		if (value && r->absent &&
		    r->absent[row * r->absent_row_step + f * r->absent_column_step])
			return 0;
	}
	return 1;
}

/* Asks, batch by batch, and checks every answer; USUAL, ODD, or -errno. */
static long ask(struct plan *p, __s64 listed)
{
	p->got = 0;
	for (__u64 start = 0; start < p->asked; start += BATCH) {
		__u64 end = start + BATCH < p->asked ? start + BATCH : p->asked;
		__s64 before = clock_ns(MONOTONIC);
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
	return USUAL;
}

/* Takes a sample; USUAL: the rows are up to date, but for threads that are gone. Otherwise they are as
 * they were. */
long steady_sample(struct plan *p)
{
	const struct rows *r = p->rows;
	__s64 listed = clock_ns(MONOTONIC);
	long result;

	p->listed_ns = (__u64)listed;
	if (!network_complete(p->network))
		return OTHER_THREADS;
	result = walk(p);
	if (result < 0)
		return result;
	if (result == (long)(p->now_room * sizeof(struct record)) ||
	    !match_threads(p, (__u64)result / sizeof(struct record)) || (r->news && may_have_moved(p)))
		return OTHER_THREADS;
	result = ask(p, listed);
	if (result != USUAL)
		return result;
	if (!take_network(p->network, r, listed, 0))
		return ODD;
	for (__u64 k = 0; k < p->asked; k++) {
		const __u64 *stats =
			(const __u64 *)(p->slots + k * p->stride + p->lead + p->stats);

		struct record *was = &p->before[p->asking[k]];
		const struct record *now = &p->now[p->found[k]];

		for (__u64 f = 0; f < p->fields; f++)
			set(r, p->asking[k], f, stats[p->words[f]]);
		/* A name stays what it was: Python takes the other one in. */
		was->runnable = now->runnable;
		was->run_ns = now->run_ns;
		was->switches = now->switches;
	}
	take_network(p->network, r, listed, 1);
	for (__u64 i = 0; i < r->count; i++)
		if (!r->gone[i])
			r->seen_ns[i] = listed;
	return USUAL;
}

const struct rows *rows_of_plan(const struct plan *p)
{
	return p->rows;
}

void next_question(struct plan *p)
{
	if (p)
		p->sequence += p->numbers;
}
