// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a ledger of each thread of an attached process: how long it was in each state.
 *
 * A thread is in one state at a time: on a CPU, in a run queue (preempted, or woken up), or waiting
 * for something. A round goes from one switch away from the thread to the next: it waits until it
 * is woken up, then is queued, then runs. When the round ends, all of it is entered: how long it
 * ran as the kernel counts it, how long it waited by our clock, and the rest as time in the queue.
 * So on-CPU time is the kernel's to the nanosecond, and the states add up to the time since the
 * ledger began. That also tells a reader, who looks without a lock, whether it saw a slot halfway
 * through an update: sum(ns) = left - began holds in between updates only.
 *
 * Slots are claimed where memory may be allocated: at the birth of a thread, and for the threads
 * that an attached process has already by a walk (`begin_ledgers`). A switch only looks them up.
 *
 * `make bpf` compiles this. The layout of struct slot and struct control, and the numbers of the
 * states, are mirrored in ../slots.py and compared with this object's BTF by a test.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SLOTS 16384
#define CALLS 1024
#define BUCKETS 24

/* Of the kernel's structs only what is used here; the loader moves the offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08
#define TASK_DEAD 0x80

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFBLK 0060000

struct inode {
	unsigned short i_mode;
} KERNEL;

struct file {
	struct inode *f_inode;
} KERNEL;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNEL;

struct files_struct {
	struct fdtable *fdt;
} KERNEL;

struct sched_entity {
	__u64 sum_exec_runtime;
} KERNEL;

struct sched_info {
	unsigned long long run_delay;
} KERNEL;

struct task_struct {
	int pid;
	int tgid;
	int on_cpu;
	unsigned int __state;
	unsigned in_iowait : 1;
	__u64 start_time;
	struct files_struct *files;
	struct sched_entity se;
	struct sched_info sched_info;
} KERNEL;

struct pt_regs___x86 {
	unsigned long di;
	unsigned long orig_ax;
} KERNEL;

struct pt_regs___arm64 {
	__u64 orig_x0;
	__s32 syscallno;
} KERNEL;

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;

/* States of a thread. What is below FIRST_WAIT is not a wait. */
enum state {
	ENDED,
	ON_CPU,
	PREEMPTED, /* in a run queue since it was switched away from while it could go on */
	WOKEN,	   /* in a run queue since it was woken up */
	FUTEX,
	POLL,
	SLEEP,
	SOCKET_RECEIVE,
	SOCKET_SEND,
	SOCKET_ACCEPT,
	SOCKET_CONNECT,
	PIPE, /* and eventfd, signals, terminals */
	FILE_READ,
	FILE_READ_DISK, /* counted by the kernel as a wait for I/O */
	FILE_WRITE,
	FILE_WRITE_DISK,
	FILE_SYNC,
	FILE_SYNC_DISK,
	PAGE_FAULT,
	PAGE_FAULT_DISK,
	CHILD,
	IO_URING,
	STOPPED, /* or traced */
	OTHER_CALL,
	OTHER, /* in the kernel, in no call */
	STATES,
};

#define FIRST_WAIT FUTEX
#define STATE_BITS 5
#define STATE_MASK ((1ULL << STATE_BITS) - 1)

/* What `calls` says of a system call besides the states: the file in its first argument decides. */
#define READS 64
#define WRITES 65
#define SYNCS 66

/* What a reader compares to see whether a ledger has changed stands in the first 64 bytes. */
struct slot {
	__u32 tgid; /* 0: not in use */
	__u32 tid;
	__u64 start_ns;	  /* CLOCK_MONOTONIC */
	__u64 exit_ns;	  /* CLOCK_MONOTONIC of the last switch; 0 while it lives */
	__u64 generation; /* raised by the collector when it gives the slot back */
	__u64 mark;	  /* when it was switched away from, ns << STATE_BITS | state since then */
	__u64 woken_ns;	  /* last wake-up; of this round if it is not before the round */
	__u64 arrived_ns; /* last switch to it; the same */
	__u64 began_ns;	  /* CLOCK_MONOTONIC */
	__u64 run_ns;	  /* of the kernel's count of its time on CPUs what has been entered */
	__u64 queued_ns;  /* the kernel's count of its time in run queues, at the end of the last round */
	__u32 index;	  /* of the slot */
	__u32 waker;	  /* thread id of who woke it last; 0: the idle task, or an interrupt then */
	__u8 unseen;	  /* no switch yet: the state is that of a look at the thread */
	__u8 pad[7];
	__u64 ns[STATES];
};

/* What else is counted for the thread of a slot. */
struct detail {
	__u32 histogram[STATES][BUCKETS]; /* of finished stays; bucket b: below 2^(b + 10) ns */
};

struct control {
	__u32 used; /* slots below this one have been used */
	__u32 pad;
	__u64 threads_without_slot; /* of attached processes */
	__u64 changes;		    /* raised after a thread got a slot, or changed its id */
};

#include "../../ebpf/thread_slots.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct detail);
} details SEC(".maps");

/* By number of a system call: the state of a thread that waits in it, or READS, WRITES, SYNCS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CALLS);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

/* Another thread with such an id has used the hint since. */
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

/* The kind of the file that a descriptor stands for; 0 where it cannot be seen. */
static __noinline __u32 file_mode(struct task_struct *task, unsigned long descriptor)
{
	struct fdtable *table;
	struct inode *inode;
	struct file *file;
	__u16 mode = 0;

	if (!task->files)
		return 0;
	table = task->files->fdt;
	if (descriptor >= table->max_fds)
		return 0;
	if (bpf_probe_read_kernel(&file, sizeof file, table->fd + descriptor) || !file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	bpf_core_read(&mode, sizeof mode, &inode->i_mode);
	return mode & S_IFMT;
}

static __always_inline enum state by_file(__u64 kind, __u32 mode, int disk)
{
	int file = mode == S_IFREG || mode == S_IFDIR || mode == S_IFBLK;

	if (kind == SYNCS)
		return disk ? FILE_SYNC_DISK : FILE_SYNC;
	if (mode == S_IFSOCK)
		return kind == READS ? SOCKET_RECEIVE : SOCKET_SEND;
	if (!file && !disk)
		return PIPE;
	if (kind == READS)
		return disk ? FILE_READ_DISK : FILE_READ;
	return disk ? FILE_WRITE_DISK : FILE_WRITE;
}

/* What a thread waits for that sleeps. Registers are those with which it entered the kernel. */
static __always_inline enum state wait_of(struct task_struct *task, unsigned int state)
{
	int disk = BPF_CORE_READ_BITFIELD(task, in_iowait);
	void *registers;
	__u32 number;
	__u64 *kind;
	long call;
	unsigned long first;

	if (state & (TASK_STOPPED | TASK_TRACED))
		return STOPPED;
	registers = (void *)bpf_task_pt_regs(task);
	if (!registers)
		return OTHER;
	if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax)) {
		call = (long)((struct pt_regs___x86 *)registers)->orig_ax;
		first = ((struct pt_regs___x86 *)registers)->di;
	} else {
		call = ((struct pt_regs___arm64 *)registers)->syscallno;
		first = ((struct pt_regs___arm64 *)registers)->orig_x0;
	}
	if (call < 0)
		return disk ? PAGE_FAULT_DISK : PAGE_FAULT;
	number = call;
	kind = bpf_map_lookup_elem(&calls, &number);
	if (!kind || !*kind)
		return OTHER_CALL;
	if (*kind < READS)
		return *kind;
	return by_file(*kind, file_mode(task, first), disk);
}

/* The number of bits of a number, at most 33 + 10. */
static __always_inline __u32 bucket(__u64 ns)
{
	__u32 bits = 0;
	__u64 left = ns >> 10;

	if (left >> 32)
		return BUCKETS - 1;
	if (left >> 16) {
		bits += 16;
		left >>= 16;
	}
	if (left >> 8) {
		bits += 8;
		left >>= 8;
	}
	if (left >> 4) {
		bits += 4;
		left >>= 4;
	}
	if (left >> 2) {
		bits += 2;
		left >>= 2;
	}
	if (left >> 1) {
		bits += 1;
		left >>= 1;
	}
	bits += left;
	return bits < BUCKETS ? bits : BUCKETS - 1;
}

/* A stay in a state is over. */
static __always_inline void finish(struct slot *slot, struct detail *detail, __u64 state, __u64 ns)
{
	__u32 *counter;
	__u32 at = bucket(ns);

	if (state >= STATES || at >= BUCKETS)
		return;
	slot->ns[state] += ns;
	counter = &detail->histogram[state][at];
	++*counter;
}

/* How long a thread has waited in a round that is over. */
static __always_inline __u64 waited(struct slot *slot, __u64 left, __u64 queued)
{
	__u64 until = slot->woken_ns;

	if (until < left) {
		/* It was woken up while it was being switched away from: the kernel's count must do. */
		until = slot->arrived_ns;
		until = until - left > queued ? until - queued : left;
	}
	return until - left;
}

/* A round is over. */
static __always_inline void enter(struct slot *slot, struct task_struct *task, __u64 now)
{
	__u64 left = slot->mark >> STATE_BITS, state = slot->mark & STATE_MASK;
	__u64 run = task->se.sum_exec_runtime, queued = task->sched_info.run_delay;
	__u64 all = now - left, ran = run - slot->run_ns, wait = 0;
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
	if (state >= FIRST_WAIT) {
		wait = waited(slot, left, queued - slot->queued_ns);
		if (wait > all - ran)
			wait = all - ran;
		finish(slot, detail, state, wait);
	}
	slot->queued_ns = queued;
	if (state != ON_CPU)
		finish(slot, detail, state == PREEMPTED ? PREEMPTED : WOKEN, all - ran - wait);
	finish(slot, detail, ON_CPU, ran);
}

static __always_inline void leave(struct task_struct *task, int preempted, unsigned int state,
				  __u64 now)
{
	struct slot *slot = slot_of(task);
	enum state next;

	if (!slot)
		return;
	if (preempted || !state)
		next = PREEMPTED;
	else if (state & TASK_DEAD)
		next = ENDED;
	else
		next = wait_of(task, state);
	enter(slot, task, now);
	slot->unseen = 0;
	slot->mark = now << STATE_BITS | next;
	if (next == ENDED)
		slot->exit_ns = now;
}

static __always_inline void arrive(struct task_struct *task, __u64 now)
{
	struct slot *slot = slot_of(task);

	if (slot)
		slot->arrived_ns = now;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempted, struct task_struct *from, struct task_struct *to,
	     unsigned int state)
{
	int leaves = may_be_watched(from), arrives = may_be_watched(to);
	__u64 now;

	if (!leaves && !arrives)
		return 0;
	now = bpf_ktime_get_ns();
	if (leaves)
		leave(from, preempted, state, now);
	if (arrives)
		arrive(to, now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct slot *slot;

	if (!may_be_watched(task))
		return 0;
	slot = slot_of(task);
	if (!slot)
		return 0;
	slot->woken_ns = bpf_ktime_get_ns();
	slot->waker = bpf_get_current_task_btf()->pid;
	return 0;
}

/* What a thread does that is looked at, and not switched. */
static __always_inline enum state state_of(struct task_struct *task)
{
	unsigned int state = task->__state;

	if (task->on_cpu)
		return ON_CPU;
	return state ? wait_of(task, state) : PREEMPTED;
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
	struct slot *slot;
	__u64 mark;

	if (!task || task->__state & TASK_DEAD)
		return 0;
	slot = begin(task, OTHER);
	if (!slot)
		return 0;
	/* From here on switches are seen. One that has come first knows better than a look does. */
	mark = slot->began_ns << STATE_BITS | OTHER;
	__sync_val_compare_and_swap(&slot->mark, mark,
				    slot->began_ns << STATE_BITS | state_of(task));
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(on_birth, struct task_struct *task, unsigned long flags)
{
	if (may_be_watched(task))
		begin(task, WOKEN);
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
		slot->waker = bpf_get_current_task_btf()->pid;
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 zero = 0;
	struct control *shared = bpf_map_lookup_elem(&control, &zero);

	if (follow(task) && shared)
		__sync_fetch_and_add(&shared->changes, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
