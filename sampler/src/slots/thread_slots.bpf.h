// SPDX-License-Identifier: GPL-2.0-only
/*
 * A slot of an array for each thread that a program counts for, which the collector maps into its
 * memory; held.rs is its other side.
 *
 * Who includes this defines before: SLOTS; struct task_struct with pid, tgid and start_time; struct
 * slot with tgid (0: not in use), tid, start_ns, exit_ns and generation (raised by the collector when
 * it gives the slot back, empty); struct control with used (slots below it have been used).
 *
 * Which slot a thread has stands in its task storage, which dies with the thread: a thread that gets
 * a used id begins with a slot of its own. The fast path to it is plain look-ups in arrays, without a
 * call of a helper: `hints` has the slot that a thread with such an id used last, believed only if id
 * and start are the thread's; `watched` has the last bits of the ids of processes that are attached to.
 *
 * `targets` and `watched` are lent to ../processes/groups.bpf.c, which puts the children of a group's
 * members there before they run.
 */
#include "watched_processes.bpf.h"

#define HINTS 65536

/* Slot of a thread; void if the slot has another generation. */
struct claim {
	__u64 generation;
	__u32 index;
	__u32 held;
	__u32 busy; /* for programs that several CPUs may run for one thread */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

/* Slot that may be a thread's, by the last bits of the thread ID. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HINTS);
	__type(key, __u32);
	__type(value, __u32);
} hints SEC(".maps");

PROCESS_MAPS(targets, watched);

/* Slots that were freed. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, SLOTS);
	__type(value, __u32);
} vacant SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct claim);
} claims SEC(".maps");

static __always_inline int may_be_watched(struct task_struct *task)
{
	__u32 key = task->tgid & (WATCHED - 1);
	struct watch *watch = bpf_map_lookup_elem(&watched, &key);

	return watch && watch->come != watch->gone;
}

static __always_inline struct slot *held_slot(struct claim *claim)
{
	struct slot *slot;

	if (!claim || !claim->held)
		return 0;
	slot = bpf_map_lookup_elem(&slots, &claim->index);
	if (!slot || slot->generation != claim->generation || !slot->tgid)
		return 0;
	return slot;
}

static __always_inline struct slot *hinted_slot(struct task_struct *task)
{
	__u32 tid = task->pid, key = tid & (HINTS - 1);
	__u32 *index = bpf_map_lookup_elem(&hints, &key);
	struct slot *slot;

	if (!index)
		return 0;
	slot = bpf_map_lookup_elem(&slots, index);
	if (!slot || slot->tid != tid || slot->start_ns != task->start_time || slot->exit_ns)
		return 0;
	return slot->tgid ? slot : 0;
}

/* A slot that is nobody's, and empty; 0: there is none. */
static __always_inline struct slot *free_slot(struct control *shared, __u32 *index)
{
	if (bpf_map_pop_elem(&vacant, index)) {
		if (shared->used >= SLOTS)
			return 0;
		*index = __sync_fetch_and_add(&shared->used, 1);
	}
	return bpf_map_lookup_elem(&slots, index);
}

/* Make a slot the thread's; what else stands in it is written before. */
static __always_inline void hold(struct slot *slot, __u32 index, struct claim *claim,
				 struct task_struct *task, __u32 tgid)
{
	claim->index = index;
	claim->generation = slot->generation;
	claim->held = 1;
	slot->tid = task->pid;
	slot->start_ns = task->start_time;
	/* An exchange is a full barrier: whoever sees the process id sees the rest as well. */
	__sync_lock_test_and_set(&slot->tgid, tgid);
}

/* A thread that executes a program takes the id and the start of its process' first thread. */
static __always_inline int follow(struct task_struct *task)
{
	struct slot *slot = held_slot(bpf_task_storage_get(&claims, task, 0, 0));

	if (!slot)
		return 0;
	slot->start_ns = task->start_time;
	__sync_lock_test_and_set(&slot->tid, task->pid);
	return 1;
}
