// SPDX-License-Identifier: GPL-2.0-only
/*
 * End of a round: its times, the wake-up that ended its wait, and the wait that begins. waits.bpf.c
 * includes this file.
 */

#define EITHER(bits, low, high) (left >> (bits) ? (high) : (low))

/* The number of bits of a time, less 10, from 0 on. */
static __always_inline __u32 bucket(__u64 ns)
{
	__u64 left = ns >> 10;

	if (left >> 8)
		return left >> 16 ? EITHER(20, EITHER(18, EITHER(17, 17, 18), EITHER(19, 19, 20)),
					   EITHER(22, EITHER(21, 21, 22), BUCKETS - 1))
				  : EITHER(12, EITHER(10, EITHER(9, 9, 10), EITHER(11, 11, 12)),
					   EITHER(14, EITHER(13, 13, 14), EITHER(15, 15, 16)));
	return EITHER(4, EITHER(2, EITHER(1, left, 2), EITHER(3, 3, 4)),
		      EITHER(6, EITHER(5, 5, 6), EITHER(7, 7, 8)));
}

/* A stay in a state is over. */
static __always_inline void finish(struct slot *slot, struct detail *detail, __u64 state, __u64 ns)
{
	__u32 *counter;
	__u32 at;

	/* Through memory the verifier takes the number for any, and follows the code once. */
	*(volatile __u16 *)&slot->bucket = bucket(ns);
	at = *(volatile __u16 *)&slot->bucket;
	/* Check the very copy that is used: the verifier of Linux 6.1 does not follow a bound to
	 * another copy of a number. */
	barrier_var(state);
	barrier_var(at);
	if (state >= STATES || at >= BUCKETS)
		return;
	slot->ns[state] += ns;
	counter = &detail->histogram[state][at];
	++*counter;
}

static __always_inline struct control *shared_counts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&control, &zero);
}

static __always_inline void add_wake(struct edge *edge, __u64 blocked, __u64 delay)
{
	edge->count++;
	edge->blocked_ns += blocked;
	edge->delay_ns += delay;
}

static __noinline int count_wake_elsewhere(struct slot *slot, __u64 waker, __u64 blocked, __u64 delay)
{
	struct edge_key key = {slot->index, slot->generation, waker, slot->address};
	struct edge first = {waker, slot->address, 1, blocked, delay}, *edge;
	struct control *shared = shared_counts();

	if (!shared)
		return 0;
	edge = bpf_map_lookup_elem(&edges, &key);
	if (edge)
		add_wake(edge, blocked, delay);
	else if (bpf_map_update_elem(&edges, &key, &first, BPF_NOEXIST))
		__sync_fetch_and_add(&shared->lost_edges, 1);
	else
		__sync_fetch_and_add(&shared->more_edges, 1);
	return 0;
}

/* A wait is over: who ended it? */
static __always_inline void count_wake(struct slot *slot, struct detail *detail, __u64 blocked,
				       __u64 delay)
{
	__u64 waker = slot->waker, address = slot->address;
	__u32 at = (waker ^ address >> 2 ^ address >> 6) & (EDGES - 1);
	struct edge *edge = &detail->edges[at];

	if (edge->waker != waker || edge->address != address) {
		if (edge->count) {
			edge = &detail->edges[at ^ 1];
			if (edge->count && (edge->waker != waker || edge->address != address)) {
				count_wake_elsewhere(slot, waker, blocked, delay);
				return;
			}
		}
		edge->waker = waker;
		edge->address = address;
	}
	add_wake(edge, blocked, delay);
}

/* A round is over. */
static __always_inline void enter(struct slot *slot, struct task_struct *task, __u64 now)
{
	__u64 left = slot->mark >> STATE_BITS, state = slot->mark & STATE_MASK;
	__u64 run = task->se.sum_exec_runtime;
	__u64 all = now - left, ran = run - slot->run_ns, wait = 0;
	__u64 queued = task->sched_info.run_delay, delay = queued - slot->queued_ns;
	__u32 index = slot->index;
	struct detail *detail = bpf_map_lookup_elem(&details, &index);

	if (!detail)
		return;
	if (state == ON_CPU) {
		/* The kernel's count was up to a tick old when the ledger began. */
		ran = all;
		slot->run_ns = run;
	} else {
		if (ran > all)
			ran = all; /* the rest comes with the next round */
		slot->run_ns += ran;
	}
	if (state == THROTTLED && slot->woken_ns < left)
		slot->woken_ns = let_go_ns(slot, task, now);
	if (state >= FIRST_WAIT) {
		/* The kernel leaves out a switch now and then, and the wake-up before it as well. */
		if (slot->arrived_ns < left && state != THROTTLED) {
			wait = delay < all - ran ? all - ran - delay : 0;
			if (slot->woken_ns < left)
				slot->waker = slot->early_waker;
		} else if (slot->woken_ns > left)
			wait = slot->woken_ns - left;
		if (wait > all - ran)
			wait = all - ran;
		finish(slot, detail, state, wait);
		if (state != THROTTLED)
			count_wake(slot, detail, wait, all - ran - wait);
	}
	if (slot->stay) /* its end was left out */
		end_stay(slot, state >= FIRST_WAIT ? wait : all - ran, state >= FIRST_WAIT ? all - ran - wait : 0);
	slot->queued_ns = queued;
	if (state != ON_CPU)
		finish(slot, detail, state == PREEMPTED ? PREEMPTED : WOKEN, all - ran - wait);
	finish(slot, detail, ON_CPU, ran);
}

static __always_inline void leave(struct task_struct *task, int preempted, unsigned int state,
				  __u64 now, int casts)
{
	struct slot *slot = slot_of(task);
	__u64 address = 0;
	enum state next;

	if (!slot)
		return;
	/* A clock's estimate may be corrected by a little. */
	if (now < slot->mark >> STATE_BITS)
		now = slot->mark >> STATE_BITS;
	if (now <= slot->arrived_ns)
		now = slot->arrived_ns + 1;
	/* First, as it has no part in what comes: the verifier forgets by which way it came here. */
	enter(slot, task, now);
	if (preempted || !state)
		next = is_throttled(task) && note_throttled(slot, task->se.cfs_rq) ? THROTTLED : PREEMPTED;
	else if (state & TASK_DEAD)
		next = ENDED;
	else
		next = wait_of(slot, task, state, &address, casts);
	slot->unseen = 0;
	slot->address = address;
	slot->mark = now << STATE_BITS | next;
	if (next == ENDED)
		slot->exit_ns = now;
	else if (is_sampling())
		begin_stay(slot);
}
