// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake-ups: when a wait ended, and the thread that ended it, or an interrupt. waits.bpf.c includes
 * this file.
 */

/* SOFTIRQ and bits of HARDIRQ, if this CPU serves an interrupt; the thread is the one that it interrupts. */
static __always_inline __u32 interrupt_of(struct task_struct *task, struct rq *rq, int casts)
{
	__u32 count = 0;
	void *place;

	if (bpf_core_field_exists(((struct task_struct___arm64 *)0)->thread_info.preempt_count)) {
		count = ((struct task_struct___arm64 *)task)->thread_info.preempt_count;
	} else if (preempt_count_at && rq) {
		place = (void *)rq + preempt_count_at;
		if (casts) {
			place -= bpf_core_field_offset(((struct load_weight *)0)->inv_weight);
			count = any_place(place)->inv_weight;
		} else {
			bpf_probe_read_kernel(&count, sizeof count, place);
		}
	}
	return count & (SOFTIRQ | HARDIRQ);
}

/* True if a thread waits for bytes of a socket, or for room in it. */
static __always_inline int waits_for_bytes(struct slot *slot)
{
	__u64 state = slot->mark & STATE_MASK;

	return state == POLL || (state >= SOCKET_RECEIVE && state <= SOCKET_CONNECT);
}

/* True if a thread is in a call on a socket. Over the loopback device, bytes, and the room that a reader
 * makes, arrive at the other end in a softirq within this call. */
static __noinline int uses_socket(struct task_struct *task, int casts)
{
	unsigned long first = 0, third = 0;
	long call = call_of(task, &first, &third);
	__u32 number = call;
	__u64 *kind;

	if (call < 0)
		return 0;
	kind = bpf_map_lookup_elem(&calls, &number);
	if (!kind)
		return 0;
	if (*kind >= SOCKET_RECEIVE && *kind <= SOCKET_CONNECT)
		return 1;
	if (*kind != READS && *kind != WRITES && *kind != SPLICES)
		return 0;
	return file_mode(task, first, casts) == S_IFSOCK ||
	       (*kind == SPLICES && file_mode(task, third, casts) == S_IFSOCK);
}

/* When is now, or up to a tick earlier? The run queue of a CPU that does something tells at no cost.
 * CLOCK_MONOTONIC. */
static __always_inline __u64 about_now(struct rq *rq)
{
	struct cpu *cpu = 0;
	__u64 clock;

	if (rq)
		cpu = this_cpu();
	if (cpu) {
		clock = rq->clock;
		if (clock - cpu->checked < WAKE_NS)
			return clock + cpu->ahead;
	}
	return bpf_ktime_get_ns();
}

static __always_inline void waken(struct task_struct *task, int casts)
{
	__u64 waker = 0, left, now;
	struct task_struct *by;
	struct slot *slot;
	__u32 tgid, key, interrupt;
	struct rq *rq;

	if (!may_be_watched(task))
		return;
	slot = slot_of(task);
	if (!slot)
		return;
	by = bpf_get_current_task_btf();
	rq = queue_of(by);
	tgid = by->tgid;
	interrupt = interrupt_of(by, rq, casts);
	if (interrupt == SOFTIRQ && tgid && waits_for_bytes(slot) && uses_socket(by, casts))
		interrupt = 0;
	if (tgid && !interrupt) {
		key = process_key(by);
		waker = (__u64)key << 32;
		if (tgid == slot->tgid || may_be_watched(by))
			waker |= (__u32)by->pid;
		if (tgid != slot->tgid && program_key(by, key) != slot->noted)
			note_name(slot, by);
	}
	left = slot->mark >> STATE_BITS;
	if (slot->arrived_ns >= left) {
		slot->early_waker = waker;
		return;
	}
	slot->waker = waker;
	/* When it was, the kernel's count tells, unless it counts already; see arrive(). */
	now = tgid && !task->sched_info.last_queued ? about_now(rq) : bpf_ktime_get_ns();
	slot->woken_ns = now > left ? now : left;
	if (slot->stay && (__u32)waker)
		release_stay(slot, waker, now);
}
