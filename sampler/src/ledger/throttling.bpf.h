// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the CPU limit of a control group holds a thread. waits.bpf.c includes this.
 *
 * From Linux 6.18 on a limit holds threads one by one: a thread whose group has used up its time is
 * taken out of its run queue when it returns to user mode, and is switched away from (kernel/sched/fair.c,
 * throttle_cfs_rq_work()). No tracepoint tells when the limit lets it go. But the group's run queue on
 * that CPU counts for how long it holds threads (throttled_clock_self_time): by how much that has grown
 * when the thread runs again is how long it was throttled, and the rest is time in the run queue. If the
 * queue holds others again before the thread has run, that is time throttled, too: the group has no
 * time left.
 *
 * Without a limit this costs one look at the thread where it is switched away from and could go on.
 */

/* True if a limit holds a thread that could go on. The flag alone also stays with a thread that has
 * changed its scheduling class since. */
static __always_inline int is_throttled(struct task_struct *task)
{
	if (!sees_throttling || !bpf_core_field_exists(task->throttled) || !task->throttled)
		return 0;
	return task->throttle_node.next != &task->throttle_node;
}

/* For how long a run queue has held threads, up to now, by the clock of its CPU's run queue. */
static __noinline __u64 held_time(struct cfs_rq *queue)
{
	__u64 since, before, clock;

	if (!bpf_core_field_exists(queue->throttled_clock_self_time))
		return 0;
	since = BPF_CORE_READ(queue, throttled_clock_self);
	before = BPF_CORE_READ(queue, throttled_clock_self_time);
	clock = BPF_CORE_READ(queue, rq, clock);
	return before + (since && clock > since ? clock - since : 0);
}

/* The thread is throttled in a run queue from now on. */
static __noinline int note_throttled(struct slot *slot, struct cfs_rq *queue)
{
	__u32 index = slot->index;
	struct detail *detail = bpf_map_lookup_elem(&details, &index);

	if (!detail)
		return 0;
	detail->queue = (__u64)queue;
	detail->held_ns = held_time(queue);
	return 1;
}

/* When was a throttled thread let go that waits for a CPU or has got it now? CLOCK_MONOTONIC, from the
 * switch away up to `now`. Who was taken out of the group is said to have been throttled until now. */
static __noinline __u64 let_go_ns(struct slot *slot, struct task_struct *task, __u64 now)
{
	__u64 left = slot->mark >> STATE_BITS, held;
	struct cfs_rq *queue = task->se.cfs_rq;
	__u32 index = slot->index;
	struct detail *detail = bpf_map_lookup_elem(&details, &index);

	if (now < left)
		return left;
	if (!detail || detail->queue != (__u64)queue)
		return now;
	held = held_time(queue) - detail->held_ns;
	return held < now - left ? left + held : now;
}

/* A throttled thread is moved to another CPU: is it throttled there as well? */
static __noinline int move_throttled(struct slot *slot, struct task_struct *task, int to, __u64 now)
{
	struct cfs_rq *queue = 0;
	__u32 index = slot->index;
	struct detail *detail = bpf_map_lookup_elem(&details, &index);

	if (!detail || !sees_throttling || !bpf_core_field_exists(task->throttled))
		return 0;
	bpf_probe_read_kernel(&queue, sizeof queue, task->sched_task_group->cfs_rq + to);
	if (!queue || BPF_CORE_READ(queue, throttle_count) <= 0)
		return 0;
	detail->queue = (__u64)queue;
	/* Include time for which the thread was throttled earlier. */
	detail->held_ns = held_time(queue) - (now - (slot->mark >> STATE_BITS));
	return 1;
}
