// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ledgers of the threads of attached processes: how long each thread was in each state.
 *
 * A thread is in one state at a time: on a CPU, in a run queue (preempted or woken up), throttled by
 * the CPU limit of its control group, or waiting for something. A round goes from one switch away
 * from the thread to the next: the thread waits until it is woken up, is queued, and runs. The end of
 * a round enters all of it: the time on a CPU as the kernel counts it, the wait by CLOCK_MONOTONIC,
 * and the rest as time in the queue. On-CPU time is therefore the kernel's to the nanosecond, and the
 * states add up to the time since the ledger began. sum(ns) = left - began holds only between
 * updates: a reader, which takes no lock, notices by it that it read a slot halfway through one.
 *
 * Slots are claimed where memory may be allocated: at the birth of a thread, and by a walk
 * (`begin_ledgers`) for the threads that an attached process already has. A switch only looks them up.
 *
 * Each thread has small tables beside its ledger: edges (wake-ups by waker, and by the futex or the
 * call that the thread waited in) and takers (threads that ran on the CPU for which it was queued).
 * The first comers get the rows; later ones go to a hash map.
 *
 * Each CPU keeps its last switches, also of other processes, at a few stores a switch. Their times are
 * the run queue's clock, which costs nothing.
 *
 * `make bpf` compiles this program. ../slots and this folder mirror the layout of structs and the
 * numbers of states; tests compare them with the sources and with the object's BTF.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_structs.bpf.h"
#include "ledgers.bpf.h"

/* Offset of a CPU's preemption count from its struct rq; 0 if unknown. Set before loading. */
const volatile __s64 preempt_count_at = 0;
/* True if the kernel reports throttled threads (Linux 6.18 and newer). Set before loading. */
const volatile __u32 sees_throttling = 0;

extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

#include "../slots/thread_slots.bpf.h"

/* The id in the key of a process. */
static __always_inline __u32 pid_of(__u32 key)
{
	return key & ((1U << PID_BITS) - 1);
}

/* Find the slot in the task's storage: another thread with such an ID has replaced the hint. */
static __noinline struct slot *look_up(struct task_struct *task)
{
	struct claim *claim = bpf_task_storage_get(&claims, task, 0, 0);
	struct slot *slot = held_slot(claim);
	__u32 key = task->pid & (HINTS - 1);

	if (slot)
		bpf_map_update_elem(&hints, &key, &claim->index, 0);
	return slot;
}

static __always_inline struct slot *slot_of(struct task_struct *task)
{
	struct slot *slot = hinted_slot(task);

	return slot ? slot : look_up(task);
}

#include "stays.bpf.h"
#include "throttling.bpf.h"
#include "wait_kinds.bpf.h"
#include "rounds.bpf.h"
#include "takers.bpf.h"
#include "wake_ups.bpf.h"

/* How long the thread was in this run queue, and whether the wait before was over at some moment, say the
 * kernel's counts: what is entered agrees with them. A thread that sleeps may be in a queue as well
 * (delayed dequeue, from Linux 6.12 on), and its time there is counted if it is moved to another: so
 * time before the wake-up is none in a queue. */
static __always_inline void arrive(struct task_struct *task, struct task_struct *from, __u64 now,
				   struct cpu *cpu, __u64 clock)
{
	__u64 left, state, earliest, since, here = 0, delay = 0;
	struct slot *slot = slot_of(task);
	__u32 other;

	if (!slot)
		return;
	left = slot->mark >> STATE_BITS;
	state = slot->mark & STATE_MASK;
	if (now < left)
		now = left;
	slot->arrived_ns = now;
	if (state == ON_CPU)
		return;
	if (state == THROTTLED && slot->woken_ns < left)
		slot->woken_ns = let_go_ns(slot, task, now);
	earliest = left;
	if (state >= FIRST_WAIT) {
		if (slot->woken_ns >= left)
			earliest = slot->woken_ns < now ? slot->woken_ns : now;
		else
			slot->waker = slot->early_waker;
	}
	slot->early_waker = 0;
	since = task->sched_info.last_queued;
	if (cpu && since) {
		here = clock - since;
		if (here > now - earliest)
			here = now - earliest;
		delay = here + task->sched_info.run_delay - slot->queued_ns;
	}
	if (state >= FIRST_WAIT) {
		/* The kernel's count has the time throttled in it. */
		if (state == THROTTLED || delay > now - earliest || !cpu || !since)
			delay = slot->woken_ns < left ? 0 : now - earliest;
		slot->woken_ns = now - delay;
	}
	if (slot->stay)
		end_stay(slot, (state >= FIRST_WAIT ? slot->woken_ns : now) - left,
			 state >= FIRST_WAIT ? now - slot->woken_ns : 0);
	if (!here)
		return;
	other = process_key(from);
	if (other && pid_of(other) != slot->tgid && program_key(from, other) != slot->noted)
		note_name(slot, from);
	count_takers(slot, cpu, here);
}

/* Time since the thread ran. With nobody to switch to, the kernel first searches other CPUs for threads,
 * which takes some microseconds. */
static __always_inline __u64 since_it_ran(struct rq *rq, struct task_struct *from)
{
	__u64 since = rq->clock_task - from->se.exec_start;

	return since < TRUST_NS ? since : 0;
}

static __always_inline void switched(int preempted, struct task_struct *from, struct task_struct *to,
				     unsigned int state, int casts)
{
	int leaves = may_be_watched(from), arrives = may_be_watched(to);
	struct rq *rq = queue_of(from);
	struct cpu *cpu = 0;
	__u64 clock = 0, now;

	if (rq)
		cpu = this_cpu();
	if (cpu) {
		clock = rq->clock;
		note_switch(cpu, from, clock);
	}
	if (!leaves && !arrives)
		return;
	if (!cpu)
		now = bpf_ktime_get_ns();
	else if (clock - cpu->checked < TRUST_NS)
		now = clock + cpu->ahead;
	else
		now = clock + check_clock(cpu, clock);
	if (leaves)
		leave(from, preempted, state, cpu ? now - since_it_ran(rq, from) : now, casts);
	if (arrives)
		arrive(to, from, now, cpu, clock);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempted, struct task_struct *from, struct task_struct *to,
	     unsigned int state)
{
	switched(preempted, from, to, state, 1);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	waken(task, 1);
	return 0;
}

/* Variants of these two programs for kernels that cannot cast. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_probing, _Bool preempted, struct task_struct *from, struct task_struct *to,
	     unsigned int state)
{
	switched(preempted, from, to, state, 0);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking_probing, struct task_struct *task)
{
	waken(task, 0);
	return 0;
}

/* System calls, if they are counted. */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, void *registers, long call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct slot *slot;

	if (!may_be_watched(task))
		return 0;
	slot = slot_of(task);
	if (!slot)
		return 0;
	slot->call = call;
	slot->call_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, void *registers, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_count *counts, none = {};
	struct control *shared;
	struct call_key key;
	struct slot *slot;
	__u64 ns;
	__u32 at;

	if (!may_be_watched(task))
		return 0;
	slot = slot_of(task);
	if (!slot || !slot->call_ns)
		return 0;
	ns = bpf_ktime_get_ns() - slot->call_ns;
	slot->call_ns = 0;
	key = (struct call_key){slot->index, slot->generation, slot->call, 0};
	counts = bpf_map_lookup_elem(&call_counts, &key);
	if (!counts) {
		bpf_map_update_elem(&call_counts, &key, &none, BPF_NOEXIST);
		counts = bpf_map_lookup_elem(&call_counts, &key);
		shared = shared_counts();
		if (!counts && shared)
			__sync_fetch_and_add(&shared->lost_calls, 1);
	}
	at = bucket(ns);
	if (!counts || at >= BUCKETS)
		return 0;
	counts->count++;
	counts->ns += ns;
	counts->histogram[at]++;
	return 0;
}

/* State of a thread that is looked at, and not switched. */
static __always_inline enum state state_of(struct slot *slot, struct task_struct *task, __u64 *address)
{
	unsigned int state = task->__state;

	if (task->on_cpu)
		return ON_CPU;
	if (state)
		return wait_of(slot, task, state, address, 0);
	return is_throttled(task) && note_throttled(slot, task->se.cfs_rq) ? THROTTLED : PREEMPTED;
}

/* Begin the ledger of a thread; the collector has emptied the slot. */
static __always_inline struct slot *begin(struct task_struct *task, enum state state)
{
	__u32 tgid = task->tgid, key = task->pid & (HINTS - 1), index = 0, zero = 0;
	struct control *shared = bpf_map_lookup_elem(&control, &zero);
	struct claim *claim;
	struct slot *slot = 0;

	if (!shared || !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	claim = bpf_task_storage_get(&claims, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!claim || __sync_lock_test_and_set(&claim->busy, 1))
		return 0;
	if (!held_slot(claim)) {
		slot = free_slot(shared, &index);
		if (!slot)
			__sync_fetch_and_add(&shared->threads_without_slot, 1);
	}
	if (slot) {
		slot->unseen = 1;
		slot->index = index;
		slot->run_ns = task->se.sum_exec_runtime;
		slot->queued_ns = task->sched_info.run_delay;
		slot->began_ns = bpf_ktime_get_ns();
		slot->mark = slot->began_ns << STATE_BITS | state;
		hold(slot, index, claim, task, tgid);
		bpf_map_update_elem(&hints, &key, &index, 0);
		__sync_fetch_and_add(&shared->changes, 1);
	}
	__sync_lock_test_and_set(&claim->busy, 0);
	return slot;
}

SEC("iter/task")
int begin_ledgers(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	__u64 mark, address = 0;
	enum state state;
	struct slot *slot;

	if (!task || task->__state & TASK_DEAD)
		return 0;
	slot = begin(task, OTHER);
	if (!slot)
		return 0;
	/* From here on switches are seen. One that has come first knows better than the walk does. */
	mark = slot->began_ns << STATE_BITS | OTHER;
	state = state_of(slot, task, &address);
	if (__sync_val_compare_and_swap(&slot->mark, mark, slot->began_ns << STATE_BITS | state) == mark)
		slot->address = address;
	return 0;
}

/* Look whether a limit has let throttled threads go that have not run since: no tracepoint tells. */
SEC("iter/task")
int let_go_throttled(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	__u64 left, woken;
	struct slot *slot;

	if (!task || !may_be_watched(task))
		return 0;
	slot = held_slot(bpf_task_storage_get(&claims, task, 0, 0));
	if (!slot)
		return 0;
	left = slot->mark >> STATE_BITS;
	woken = slot->woken_ns;
	if ((slot->mark & STATE_MASK) != THROTTLED || woken >= left || slot->arrived_ns >= left ||
	    is_throttled(task))
		return 0;
	/* A switch that has come first knows better. */
	__sync_val_compare_and_swap(&slot->woken_ns, woken, let_go_ns(slot, task, bpf_ktime_get_ns()));
	return 0;
}

/* A thread of a process that is a target. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_birth, struct task_struct *task, unsigned long flags)
{
	if (task->pid != task->tgid && may_be_watched(task))
		begin(task, WOKEN);
	return 0;
}

/* A new process, if its parent's group made it a target: that was at task_newtask, which is earlier
 * (kernel/fork.c). It cannot run yet. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid == child->tgid && may_be_watched(child))
		begin(child, WOKEN);
	return 0;
}

/* A thread that waits in a run queue is put into another CPU's: what it waited for until now ran on the
 * one, what it waits for from now on runs on the other. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_move, struct task_struct *task, int to)
{
	__u64 left, state, earliest, before, queued, now;
	struct slot *slot;

	if (task->on_rq != TASK_ON_RQ_MIGRATING || !may_be_watched(task) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return 0;
	slot = slot_of(task);
	if (!slot)
		return 0;
	before = slot->moved_ns > slot->queued_ns ? slot->moved_ns : slot->queued_ns;
	slot->moved_ns = task->sched_info.run_delay;
	queued = slot->moved_ns - before;
	earliest = left = slot->mark >> STATE_BITS;
	state = slot->mark & STATE_MASK;
	if (state >= FIRST_WAIT && slot->woken_ns > left)
		earliest = slot->woken_ns;
	/* One that sleeps may be in a queue, too (delayed dequeue, from Linux 6.12 on). */
	now = bpf_ktime_get_ns();
	if (state == THROTTLED && slot->woken_ns < left) {
		if (!move_throttled(slot, task, to, now))
			slot->woken_ns = now;
		return 0;
	}
	if (state == ON_CPU || state == ENDED || earliest >= now ||
	    (state >= FIRST_WAIT && slot->woken_ns < left))
		return 0;
	if (queued > now - earliest)
		queued = now - earliest;
	if (queued)
		count_takers_before_move(slot, task->se.cfs_rq->rq, queued);
	return 0;
}

/* A new thread is put into a run queue. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_first_wake, struct task_struct *task)
{
	struct slot *slot;

	if (!may_be_watched(task))
		return 0;
	slot = slot_of(task);
	if (slot && slot->unseen && (slot->mark & STATE_MASK) == WOKEN) {
		slot->began_ns = bpf_ktime_get_ns();
		slot->mark = slot->began_ns << STATE_BITS | WOKEN;
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct control *shared = shared_counts();

	if (follow(task) && shared)
		__sync_fetch_and_add(&shared->changes, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
