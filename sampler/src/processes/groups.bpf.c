// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows which processes belong to groups: a process and its descendants, the processes of a
 * control group, and those that match an expression.
 *
 * A child is a member before its first instruction: the fork adds it, while it cannot run yet. Births,
 * executions and ends of members go into a ring, so that none is missed between two readings. Whoever
 * counts for members (ledgers, network bytes) lends its own maps of processes, and has the child in
 * them just as early: at task_newtask, so that they can begin to count for it at sched_process_fork.
 *
 * Each group has a bit. The programs run only while there is a group.
 *
 * `make bpf` compiles this. The layout of struct event is mirrored in ring.rs.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "../slots/watched_processes.bpf.h"

#define MEMBERS 32768
#define CGROUPS 4096
#define RING_BYTES (4 << 20)
#define LEVELS 24 /* of control groups, from the root on */
#define TASK_DEAD 0x80 /* include/linux/sched.h */

/* Members of the kernel's structs that this program reads; the loader moves offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
} KERNEL;

struct kernfs_node {
	__u64 id;
} KERNEL;

struct cgroup_root {
	int hierarchy_id;
} KERNEL;

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup_root *root;
	struct cgroup *ancestors[];
} KERNEL;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} KERNEL;

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
} KERNEL;

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
} KERNEL;

struct sched_entity {
	__u64 sum_exec_runtime;
} KERNEL;

struct task_struct {
	unsigned int __state;
	int pid;
	int tgid;
	__u64 start_time;
	__u64 start_boottime;
	struct sched_entity se;
	struct signal_struct *signal;
	struct css_set *cgroups;
	const struct cred *cred;
	char comm[16];
} KERNEL;

enum cgroup_subsys_id {
	cpuacct_cgrp_id,
};

#define LEDGER 1
#define NETWORK 2

#define BORN 1
#define EXECUTED 2
#define DONE 3 /* a thread has run for the last time */
#define MOVED 4 /* into another control group */

struct event {
	__u32 kind;
	__u32 pid;   /* of the process */
	__u32 other; /* BORN: the process that forked; DONE: the thread */
	__u32 value; /* DONE: how many threads are left (0 several times, if they are not counted); else the
			real user id */
	__u64 groups;        /* bits; before the end, or from now on */
	__u64 at_ns;         /* CLOCK_MONOTONIC */
	__u64 start_ns;      /* of the thread that does it, or is born; CLOCK_MONOTONIC */
	__u64 start_boot_ns; /* the same on CLOCK_BOOTTIME */
	__u64 run_ns;        /* DONE: how long the thread was on a CPU */
	char comm[16];
};

struct control {
	__u64 inherited;     /* bits of groups whose members' children are members */
	__u64 matched;       /* bits of groups that want to know of all executions */
	__u64 of_cgroups;    /* bits of groups of processes of a control group */
	__u32 v1_hierarchy; /* the number of the one with cpuacct; 0: there is none */
	__u32 lent;	    /* who counts for members: LEDGER, NETWORK */
	__u64 lost_events;   /* the ring was full */
	__u64 lost_members; /* the map of members was full */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

/* Process ids, in the initial PID namespace, and the bits of their groups. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMBERS);
	__type(key, __u32);
	__type(value, __u64);
} members SEC(".maps");

/* Threads that have not left their CPU for good, of members that were followed from their birth.
 * The kernel's own counts do not say that: a thread is taken off them while it still runs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMBERS);
	__type(key, __u32);
	__type(value, __u32);
} unfinished SEC(".maps");

struct cgroup_key {
	__u64 id;
	__u64 hierarchy;
};

/* Control groups whose processes, and those of groups below, are members. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CGROUPS);
	__type(key, struct cgroup_key);
	__type(value, __u64);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} events SEC(".maps");

/* The loader puts the maps of other programs here. */
PROCESS_MAPS(ledger_targets, ledger_watched);
PROCESS_MAPS(network_targets, network_watched);

static __noinline int fill(struct event *event, struct task_struct *task)
{
	event->pid = task->tgid;
	event->at_ns = bpf_ktime_get_ns();
	event->start_ns = task->start_time;
	event->start_boot_ns = task->start_boottime;
	event->run_ns = task->se.sum_exec_runtime;
	__builtin_memcpy(event->comm, task->comm, sizeof event->comm);
	return 0;
}

static __always_inline void tell(struct control *shared, __u32 kind, struct task_struct *task,
				 __u32 other, __u32 value, __u64 groups)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof *event, 0);

	if (!event) {
		__sync_fetch_and_add(&shared->lost_events, 1);
		return;
	}
	event->kind = kind;
	event->other = other;
	event->value = value;
	event->groups = groups;
	fill(event, task);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static __always_inline __u32 uid_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cred, uid.val);
}

/* The bits of a control group, and of those that it is in. */
static __always_inline __u64 bits_of_cgroup(struct cgroup *cgroup)
{
	struct cgroup_key key = {};
	struct cgroup *above;
	__u64 bits = 0, *found;
	int level, deepest;

	if (!cgroup)
		return 0;
	deepest = BPF_CORE_READ(cgroup, level);
	key.hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
	for (level = 0; level < LEVELS; level++) {
		if (level > deepest)
			break;
		if (bpf_core_read(&above, sizeof above, &cgroup->ancestors[level]) || !above)
			break;
		key.id = BPF_CORE_READ(above, kn, id);
		found = bpf_map_lookup_elem(&cgroups, &key);
		if (found)
			bits |= *found;
	}
	return bits;
}

static __always_inline __u64 bits_of_cgroups(struct control *shared, struct task_struct *task)
{
	struct cgroup_subsys_state *state = 0;
	__u32 number;
	__u64 bits;

	bits = bits_of_cgroup(BPF_CORE_READ(task, cgroups, dfl_cgrp));
	if (shared->v1_hierarchy && bpf_core_enum_value_exists(enum cgroup_subsys_id, cpuacct_cgrp_id)) {
		number = bpf_core_enum_value(enum cgroup_subsys_id, cpuacct_cgrp_id);
		bpf_core_read(&state, sizeof state, &task->cgroups->subsys[0]);
		bpf_probe_read_kernel(&state, sizeof state,
				      (void *)((__u64)BPF_CORE_READ(task, cgroups) +
					       bpf_core_field_offset(struct css_set, subsys) +
					       number * sizeof state));
		if (state)
			bits |= bits_of_cgroup(BPF_CORE_READ(state, cgroup));
	}
	return bits;
}

/* Whoever lends these maps counts for the process from now on; the collector sees to it that it is
 * there, and takes it out. */
static __always_inline void lend(void *targets, void *watched, __u32 pid)
{
	__u32 key = pid & (WATCHED - 1), value = 1;
	struct watch *watch = bpf_map_lookup_elem(watched, &key);

	if (watch && !bpf_map_update_elem(targets, &pid, &value, BPF_NOEXIST))
		__sync_fetch_and_add(&watch->come, 1);
}

static __always_inline void add(struct control *shared, __u32 pid, __u64 groups)
{
	if (bpf_map_update_elem(&members, &pid, &groups, 0))
		__sync_fetch_and_add(&shared->lost_members, 1);
}

static __always_inline void drop(__u32 pid)
{
	bpf_map_delete_elem(&members, &pid);
	bpf_map_delete_elem(&unfinished, &pid);
}

/* Called where the child is whole, in its control groups, and before it runs (copy_process in
 * kernel/fork.c). */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_fork, struct task_struct *child, unsigned long flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	__u32 zero = 0, forker = parent->tgid, pid = child->tgid, first = 1, *threads;
	struct control *shared;
	__u64 bits = 0, *found;

	if (child->pid != child->tgid) {
		threads = bpf_map_lookup_elem(&unfinished, &pid);
		if (threads)
			__sync_fetch_and_add(threads, 1);
		return 0;
	}
	shared = bpf_map_lookup_elem(&control, &zero);
	if (!shared)
		return 0;
	found = bpf_map_lookup_elem(&members, &forker);
	if (found)
		bits = *found & shared->inherited;
	if (shared->of_cgroups)
		bits |= bits_of_cgroups(shared, child);
	if (!bits) {
		/* A former member had this ID; its last threads were not counted. */
		bpf_map_delete_elem(&members, &pid);
		return 0;
	}
	add(shared, pid, bits);
	bpf_map_update_elem(&unfinished, &pid, &first, 0);
	if (shared->lent & LEDGER)
		lend(&ledger_targets, &ledger_watched, pid);
	if (shared->lent & NETWORK)
		lend(&network_targets, &network_watched, pid);
	tell(shared, BORN, child, forker, uid_of(child), bits);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 zero = 0, pid = task->tgid;
	struct control *shared = bpf_map_lookup_elem(&control, &zero);
	__u64 *found = bpf_map_lookup_elem(&members, &pid);

	if (shared && (found || shared->matched))
		tell(shared, EXECUTED, task, 0, uid_of(task), found ? *found : 0);
	return 0;
}

/*
 * A thread leaves its CPU for good: from here on its time on a CPU is known whole. Its exit record,
 * which was sent before, has it up to the last tick only: of a process that lived for a millisecond,
 * often nothing.
 *
 * A member stays one until its last thread has done that. Where its threads are not counted, since it
 * was there before it became a member, the collector takes it out.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_last_switch, _Bool preempted, struct task_struct *prev)
{
	__u32 zero = 0, pid, *threads;
	struct control *shared;
	__u64 groups, *found;
	int left;

	if (!(prev->__state & TASK_DEAD))
		return 0;
	pid = prev->tgid;
	found = bpf_map_lookup_elem(&members, &pid);
	shared = bpf_map_lookup_elem(&control, &zero);
	if (!found || !shared)
		return 0;
	groups = *found;
	threads = bpf_map_lookup_elem(&unfinished, &pid);
	if (threads) {
		left = __sync_fetch_and_add(threads, -1) - 1;
		if (!left)
			drop(pid);
	} else {
		left = prev->signal->live.counter;
	}
	tell(shared, DONE, prev, prev->pid, left, groups);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_move, struct cgroup *to, const char *path, struct task_struct *task, _Bool whole)
{
	__u32 zero = 0, pid = task->tgid;
	struct control *shared = bpf_map_lookup_elem(&control, &zero);
	__u64 before, now, *found;

	if (!shared || !shared->of_cgroups || (!whole && task->pid != task->tgid))
		return 0;
	found = bpf_map_lookup_elem(&members, &pid);
	before = found ? *found : 0;
	now = (before & ~shared->of_cgroups) | bits_of_cgroups(shared, task);
	if (now == before)
		return 0;
	if (now)
		add(shared, pid, now);
	else
		drop(pid);
	tell(shared, MOVED, task, 0, uid_of(task), now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
