// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a ledger of each thread of an attached process: how long it was in each state.
 *
 * A thread is in one state at a time: on a CPU, in a run queue (preempted, or woken up), throttled by
 * the CPU limit of its control group, or waiting for something. A round goes from one switch away from the thread to the next: it waits until it
 * is woken up, then is queued, then runs. When the round ends, all of it is entered: how long it
 * ran as the kernel counts it, how long it waited by our clock, and the rest as time in the queue.
 * So on-CPU time is the kernel's to the nanosecond, and the states add up to the time since the
 * ledger began. That also tells a reader, who looks without a lock, whether it saw a slot halfway
 * through an update: sum(ns) = left - began holds in between updates only.
 *
 * Slots are claimed where memory may be allocated: at the birth of a thread, and for the threads
 * that an attached process has already by a walk (`begin_ledgers`). A switch only looks them up.
 *
 * Beside its ledger a thread has small tables: who woke it up, from which wait, for how long (edges: a
 * wait for a futex is one for its address, a wait in a call that is no state of its own is one for that
 * call), and who ran on the CPU that it waited for (takers). A row is the first one's to come; who finds
 * no room in the thread's own table goes to a hash map.
 *
 * What runs on a CPU is known from its last switches, which each CPU keeps: a few stores a switch,
 * for other processes too. They are stamped with the clock of the run queue, which costs nothing.
 *
 * `make bpf` compiles this. The layout of the structs and the numbers of the states are mirrored in
 * ../slots.py and compared with this object's BTF by a test.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SLOTS 16384
#define CALLS 1024
#define BUCKETS 24
#define EDGES 8
#define TAKERS 8
#define CPUS 1 /* the collector says how many before loading */
#define RECENT 2048 /* switches that a CPU remembers */
#define TRUST_NS (1 << 20) /* how long the distance between two clocks is believed at switches */
#define WAKE_NS (1 << 24) /* the same at wake-ups, whose times are looked at again */
#define DRIFT_BITS 10	  /* clocks drift apart by less than this part of the time */
#define JUMP_NS 100000000 /* more is no drift */
#define MORE_EDGES 32768
#define MORE_TAKERS 16384
#define MORE_CALLS 65536
#define NAMES 4096
#define COMM 16
#define PID_BITS 22   /* of a process id: PID_MAX_LIMIT of the kernel is 2^22 */
#define BIRTHS 1024   /* moments of birth that a key of a process tells apart, in a circle */
#define BIRTH_BITS 24 /* from one of these to the next it is 2^24 ns */

/* Of the kernel's structs only what is used here; the loader moves the offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

#define TASK_ON_RQ_MIGRATING 2 /* kernel/sched/sched.h */
#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08
#define TASK_DEAD 0x80
#define TASK_FROZEN 0x8000	    /* by the freezer of version 1, from Linux 6.1 on */
#define JOBCTL_TRAP_FREEZE (1 << 23) /* by version 2 (include/linux/sched/jobctl.h) */
#define PF_KTHREAD 0x00200000

/* Of a preemption count: serving a softirq, and serving an interrupt or an NMI. */
#define SOFTIRQ 0x00000100
#define HARDIRQ 0x00ff0000

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFIFO 0010000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFBLK 0060000

struct inode {
	unsigned short i_mode;
} KERNEL;

struct file {
	struct inode *f_inode;
	void *private_data;
} KERNEL;

struct pipe_inode_info {
	unsigned int head;
	unsigned int tail;
	unsigned int max_usage;
} KERNEL;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNEL;

struct files_struct {
	struct fdtable *fdt;
} KERNEL;

struct task_struct;

struct list_head {
	struct list_head *next;
} KERNEL;

struct rq {
	struct task_struct *curr;
	__u64 clock;
	__u64 clock_task;
	int cpu;
} KERNEL;

struct cfs_rq {
	struct rq *rq;
	int throttle_count; /* limits, of its group and of those above, that hold it now */
	__u64 throttled_clock_self; /* since when it holds threads, by the clock of `rq`; 0: it holds none */
	__u64 throttled_clock_self_time; /* how long it held threads before */
} KERNEL;

/* A control group of the CPU controller. */
struct task_group {
	struct cfs_rq **cfs_rq; /* by CPU */
} KERNEL;

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 exec_start; /* up to when `sum_exec_runtime` counts, by the run queue's clock of tasks */
	__u64 sum_exec_runtime;
} KERNEL;

/* Stands for any place in memory: what matters is how long its members are. */
struct load_weight {
	unsigned long weight;
	__u32 inv_weight;
} KERNEL;

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_queued; /* by the clock of its run queue; 0: it is in none */
} KERNEL;

struct task_struct {
	int pid;
	int tgid;
	int on_cpu;
	int on_rq;
	unsigned int flags;
	unsigned int __state;
	unsigned in_iowait : 1;
	unsigned frozen : 1; /* also of a parent in vfork(2), frozen or not */
	unsigned long jobctl;
	__u64 start_time;
	__u64 start_boottime;
	struct files_struct *files;
	struct sched_entity se;
	struct task_group *sched_task_group;
	struct list_head throttle_node; /* among the throttled ones of its queue; else alone */
	_Bool throttled;		/* from Linux 6.18 on */
	struct sched_info sched_info;
	struct task_struct *group_leader;
	char comm[COMM];
} KERNEL;

struct thread_info___arm64 {
	__u64 preempt_count;
} KERNEL;

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
} KERNEL;

struct thread_info___x86 {
	__u32 status;
} KERNEL;

struct task_struct___x86 {
	struct thread_info___x86 thread_info;
} KERNEL;

struct pt_regs___x86 {
	unsigned long di;
	unsigned long dx;
	unsigned long orig_ax;
} KERNEL;

struct pt_regs___arm64 {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
	__u64 pstate;
} KERNEL;

/* In a system call of 32-bit programs, whose numbers are others. */
#define TS_COMPAT 0x0002
#define PSR_MODE32_BIT 0x10

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
	STOPPED, /* or traced, or frozen */
	OTHER_CALL,
	OTHER, /* in the kernel, in no call */
	THROTTLED, /* by a CPU limit since it was switched away from; let go, it is WOKEN */
	STATES,
};

/* What is from here on lasts until `woken_ns`. */
#define FIRST_WAIT FUTEX
#define STATE_BITS 5
#define STATE_MASK ((1ULL << STATE_BITS) - 1)

/* What `calls` says of a system call besides the states: the file in its first argument decides. */
#define READS 64
#define WRITES 65
#define SYNCS 66
#define RESTARTS 67 /* goes on with the call that a signal interrupted */
#define SPLICES 68  /* the files in its first and third argument decide */
#define FUTEXES 69  /* waits for any of several futexes */

/* In place of an address: the thread waits in a system call that is no state of its own, or for several
 * futexes. */
#define CALL_ADDRESS (1ULL << 63)

/* Kinds of stays that have chances of their own to be sampled: stays.bpf.h. */
#define KINDS 4

struct chance {
	__u32 since;  /* when `stays` were counted from: CLOCK_MONOTONIC, the low bits of 2^12 ns */
	__u16 stays;
	__u16 weight; /* one of so many is sampled; 0: not set, all are */
};

/* What a reader compares to see whether a ledger has changed stands in the first 64 bytes. */
struct slot {
	__u32 tgid; /* 0: not in use */
	__u32 tid;
	__u64 start_ns;	  /* CLOCK_MONOTONIC */
	__u64 exit_ns;	  /* CLOCK_MONOTONIC of the last switch; 0 while it lives */
	__u64 generation; /* raised by the collector when it gives the slot back */
	__u64 mark;	  /* when it was switched away from, ns << STATE_BITS | state since then */
	__u64 woken_ns;	  /* last wake-up, or a little before it until the thread runs; of this round if
			     it is not before the round */
	__u64 arrived_ns; /* last switch to it; the same */
	__u64 began_ns;	  /* CLOCK_MONOTONIC */
	__u64 run_ns;	  /* of the kernel's count of its time on CPUs what has been entered */
	__u64 queued_ns;  /* the kernel's count of its time in run queues, at the end of the last round */
	__u64 address;	  /* of the futex that it waits for; CALL_ADDRESS | number of the call, if it is
			     OTHER_CALL or there are several futexes; 0: it waits for something else */
	__u64 waker;	  /* who ended the wait: process key << 32 | thread id, if that may be of a target; 0:
			     an interrupt, or the idle task */
	__u64 early_waker; /* the same of a wake-up while it ran, or was being switched away from, since it
			     was switched to last */
	__u16 index;	  /* of the slot */
	__u16 waits_in;	  /* the last system call in which it waited, 0: none */
	__u32 noted;	  /* key of the process whose name was noted last */
	__u32 call;	  /* system call that it is in, if calls are counted */
	__u16 unseen;	  /* no switch yet: the state is read from the thread itself */
	__u16 bucket;	  /* of the stay that is entered */
	__u64 call_ns;	  /* CLOCK_MONOTONIC, when it began; 0: none */
	__u64 moved_ns;	  /* as `queued_ns`, when it came into the run queue of another CPU last */
	__u64 ns[STATES];
	__u64 stay; /* number of the stay under way, if it is sampled; 0: it is not */
	struct chance chances[KINDS]; /* of stays to be sampled; fills a cache line */
};

/* Wake-ups by one waker from waits for one address, as in struct slot. */
struct edge {
	__u64 waker;
	__u64 address;
	__u64 count;
	__u64 blocked_ns;
	__u64 delay_ns; /* from the wake-up until it ran */
};

/* How long the thread was queued while a process ran on that CPU. */
struct taker {
	__u64 who; /* process key << 1 | whether it is a kernel thread */
	__u64 ns;
};

/* What else is counted for the thread of a slot. */
struct detail {
	__u32 histogram[STATES][BUCKETS]; /* of finished stays; bucket b: below 2^(b + 10) ns */
	struct edge edges[EDGES];
	struct taker takers[TAKERS];
	__u64 queue; /* address of the run queue in which the thread was throttled last */
	__u64 held_ns; /* how long that had held threads when it was; see held_time() */
};

/* Who finds no room in the slot's own table. */
struct edge_key {
	__u32 index;
	__u32 generation;
	__u64 waker;
	__u64 address;
};

struct taker_key {
	__u32 index;
	__u32 generation;
	__u64 who;
};

struct call_key {
	__u32 index;
	__u32 generation;
	__u32 call;
	__u32 pad;
};

struct call_count {
	__u64 count;
	__u64 ns;
	__u32 histogram[BUCKETS]; /* as in struct detail */
};

struct name {
	char comm[COMM];
	__u32 kernel; /* whether it is a kernel thread */
	__u32 pad;
	__u64 start_ns; /* CLOCK_BOOTTIME, when the process began */
};

struct one_switch {
	__u64 clock; /* of the run queue, ns */
	__u64 who;   /* left the CPU, as in struct taker */
};

/* The last switches of a CPU. */
struct cpu {
	__u64 next;
	__u64 checked; /* by the clock of the run queue, when `ahead` was looked at; 0: never */
	__u64 ahead;  /* CLOCK_MONOTONIC less that clock */
	struct one_switch recent[RECENT];
};

struct control {
	__u32 used; /* slots below this one have been used */
	__u32 pad;
	__u64 threads_without_slot; /* of attached processes */
	__u64 changes;		    /* raised after a thread got a slot, or changed its id */
	__u64 more_edges;	    /* looked for beside a slot's own table */
	__u64 more_takers;	    /* the same */
	__u64 lost_edges;	    /* wake-ups that found no room there either */
	__u64 lost_takers;
	__u64 lost_calls;
};

/* Where the preemption count of a CPU stands, from its struct rq on; 0: not known. Set before loading. */
const volatile __s64 preempt_count_at = 0;
/* Whether the kernel tells who is throttled, from Linux 6.18 on. Set before loading. */
const volatile __u32 sees_throttling = 0;

extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

#include "../slots/thread_slots.bpf.h"

/* The id in the key of a process. */
static __always_inline __u32 pid_of(__u32 key)
{
	return key & ((1U << PID_BITS) - 1);
}

#include "stays.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct detail);
} details SEC(".maps");

/* By number of a system call: the state of a thread that waits in it, or one of READS to FUTEXES. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CALLS);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MORE_EDGES);
	__type(key, struct edge_key);
	__type(value, struct edge);
} edges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MORE_TAKERS);
	__type(key, struct taker_key);
	__type(value, __u64);
} takers SEC(".maps");

/* Calls are counted outside of switches: memory may be allocated. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MORE_CALLS);
	__type(key, struct call_key);
	__type(value, struct call_count);
} call_counts SEC(".maps");

/* Of processes other than the attached ones, by their keys; the collector takes them out. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NAMES);
	__type(key, __u32);
	__type(value, struct name);
} names SEC(".maps");

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

#include "throttling.bpf.h"

/* From Linux 6.2 on (`casts`) any place in memory can be read without a call. */
static __always_inline struct load_weight *any_place(const void *place)
{
	return bpf_rdonly_cast(place, bpf_core_type_id_kernel(struct load_weight));
}

/* The kind of the file that a descriptor stands for; 0 where it cannot be seen. */
static __always_inline __u32 file_mode(struct task_struct *task, unsigned long descriptor, int casts)
{
	struct load_weight *place;
	struct fdtable *table;
	struct inode *inode;
	struct file *file;
	__u16 mode = 0;

	if (!task->files)
		return 0;
	table = task->files->fdt;
	if (descriptor >= table->max_fds)
		return 0;
	if (casts) {
		place = any_place(table->fd + descriptor);
		file = bpf_rdonly_cast((void *)place->weight, bpf_core_type_id_kernel(struct file));
		return file->f_inode->i_mode & S_IFMT;
	}
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
	/* What is sent may come from a file: sendfile(2). */
	if (mode == S_IFSOCK && disk)
		return FILE_READ_DISK;
	if (mode == S_IFSOCK)
		return kind == READS ? SOCKET_RECEIVE : SOCKET_SEND;
	if (!file && !disk)
		return PIPE;
	if (kind == READS)
		return disk ? FILE_READ_DISK : FILE_READ;
	return disk ? FILE_WRITE_DISK : FILE_WRITE;
}

/* The fill of a pipe that a descriptor stands for: how many of its places are free, in `free`, and taken. */
static __always_inline __u32 fill_of_pipe(struct task_struct *task, unsigned long descriptor, __u32 *free)
{
	struct pipe_inode_info *pipe;
	__u32 taken, most;
	struct file *file;

	bpf_probe_read_kernel(&file, sizeof file, task->files->fdt->fd + descriptor);
	pipe = BPF_CORE_READ(file, private_data);
	taken = BPF_CORE_READ(pipe, head) - BPF_CORE_READ(pipe, tail);
	most = BPF_CORE_READ(pipe, max_usage);
	*free = most > taken ? most - taken : 0;
	return taken;
}

/* What a thread waits for that moves from one descriptor to another, one of which is a pipe: splice(2). */
static __noinline int splice_wait(struct task_struct *task, unsigned long from, unsigned long to, int disk)
{
	__u32 source = file_mode(task, from, 0), target = file_mode(task, to, 0), free = 0;

	if (disk || !source || !target)
		return by_file(source == S_IFIFO ? WRITES : READS, source == S_IFIFO ? target : source, disk);
	if (target == S_IFIFO) {
		fill_of_pipe(task, to, &free);
		return free ? by_file(READS, source, 0) : PIPE;
	}
	return fill_of_pipe(task, from, &free) ? by_file(WRITES, target, 0) : PIPE;
}

/* Whether a thread that sleeps in such a state does so because its control group is frozen. */
static __always_inline int is_frozen(struct task_struct *task, unsigned int state)
{
	if (state & TASK_FROZEN)
		return 1;
	if (!bpf_core_field_exists(task->frozen) || !(task->jobctl & JOBCTL_TRAP_FREEZE))
		return 0;
	return BPF_CORE_READ_BITFIELD(task, frozen);
}

/* In place of the number of a system call: the thread is in none, or in one of a 32-bit program. */
#define NO_CALL (-1)
#define OTHER_NUMBERS (-2)
#define NO_REGISTERS (-3)

/* The number of the system call that a thread is in, and two of its arguments. Registers are those with
 * which it entered the kernel; a call that goes on after a signal has the old ones. */
static __always_inline long call_of(struct task_struct *task, unsigned long *first, unsigned long *third)
{
	void *registers = (void *)bpf_task_pt_regs(task);
	int other_numbers;
	long call;

	if (!registers)
		return NO_REGISTERS;
	if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax)) {
		call = (long)((struct pt_regs___x86 *)registers)->orig_ax;
		*first = ((struct pt_regs___x86 *)registers)->di;
		*third = ((struct pt_regs___x86 *)registers)->dx;
		other_numbers = ((struct task_struct___x86 *)task)->thread_info.status & TS_COMPAT;
	} else {
		call = ((struct pt_regs___arm64 *)registers)->syscallno;
		*first = ((struct pt_regs___arm64 *)registers)->orig_x0;
		*third = ((struct pt_regs___arm64 *)registers)->regs[2];
		other_numbers = !!(((struct pt_regs___arm64 *)registers)->pstate & PSR_MODE32_BIT);
	}
	if (call < 0)
		return NO_CALL;
	return other_numbers ? OTHER_NUMBERS : call;
}

/* What a thread waits for that sleeps. The address is that of struct slot. */
static __always_inline enum state wait_of(struct slot *slot, struct task_struct *task,
					  unsigned int state, __u64 *address, int casts)
{
	int disk = BPF_CORE_READ_BITFIELD(task, in_iowait);
	unsigned long first, third;
	__u32 number;
	__u64 *kind;
	long call;

	if (state & (TASK_STOPPED | TASK_TRACED) || is_frozen(task, state))
		return STOPPED;
	call = call_of(task, &first, &third);
	if (call == NO_REGISTERS)
		return OTHER;
	if (call == NO_CALL)
		return disk ? PAGE_FAULT_DISK : PAGE_FAULT;
	if (call == OTHER_NUMBERS)
		return OTHER_CALL;
	number = call;
	kind = bpf_map_lookup_elem(&calls, &number);
	if (kind && *kind == RESTARTS && slot->waits_in) {
		number = slot->waits_in;
		kind = bpf_map_lookup_elem(&calls, &number);
	}
	slot->waits_in = number;
	if (!kind || !*kind || *kind == RESTARTS) {
		*address = CALL_ADDRESS | number;
		return OTHER_CALL;
	}
	if (*kind == FUTEXES) {
		*address = CALL_ADDRESS | number;
		return disk ? PAGE_FAULT_DISK : FUTEX;
	}
	if (*kind == SPLICES)
		return splice_wait(task, first, third, disk);
	if (*kind >= READS)
		return by_file(*kind, file_mode(task, first, casts), disk);
	/* Memory that the call touches is read from the disk. */
	if (disk && *kind != IO_URING)
		return PAGE_FAULT_DISK;
	if (*kind == FUTEX)
		*address = first;
	return *kind;
}

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

	/* What comes from there is any number to the verifier: it looks at what follows once. */
	*(volatile __u16 *)&slot->bucket = bucket(ns);
	at = *(volatile __u16 *)&slot->bucket;
	/* What is checked has to be what is used: the verifier of Linux 6.1 does not follow a bound to
	 * another copy of the number. */
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
	/* What is known of a clock may be corrected by a little. */
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

/* A process, distinguished from those that get its id later: the id, and when it began, not 0. The key
 * of the idle task is 0. */
static __always_inline __u32 process_key(struct task_struct *task)
{
	__u32 tgid = task->tgid, birth;

	if (!tgid)
		return 0;
	birth = (task->group_leader->start_boottime >> BIRTH_BITS) & (BIRTHS - 1);
	return tgid | (birth ? birth : 1) << PID_BITS;
}

/* A process that is not the slot's: the collector cannot ask for its name when it has ended. */
static __noinline int note_name(struct slot *slot, struct task_struct *task)
{
	struct name name = {
		.kernel = !!(task->flags & PF_KTHREAD),
		.start_ns = task->group_leader->start_boottime,
	};
	__u32 key = process_key(task);

	slot->noted = key;
	bpf_probe_read_kernel(name.comm, sizeof name.comm, task->group_leader->comm);
	bpf_map_update_elem(&names, &key, &name, BPF_NOEXIST);
	return 0;
}

static __always_inline __u64 who_is(struct task_struct *task)
{
	return (__u64)process_key(task) << 1 | !!(task->flags & PF_KTHREAD);
}

/* The run queue of the CPU on which a thread runs; 0: where it stands is not known. */
static __always_inline struct rq *queue_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return 0;
	return task->se.cfs_rq->rq;
}

static __always_inline struct cpu *this_cpu(void)
{
	__u32 key = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &key);
}

/* Remember a switch of this CPU. */
static __always_inline void note_switch(struct cpu *cpu, struct task_struct *from, __u64 clock)
{
	struct one_switch *one = &cpu->recent[cpu->next++ & (RECENT - 1)];

	one->clock = clock;
	one->who = who_is(from);
}

/* How far is CLOCK_MONOTONIC ahead of the clock of this CPU's run queue, which was read before it? What
 * took the CPU in between, a hypervisor for example, is no distance. */
static __noinline __u64 check_clock(struct cpu *cpu, __u64 clock)
{
	__u64 ahead = bpf_ktime_get_ns() - clock, grown = ahead - cpu->ahead;
	__u64 drift = (clock - cpu->checked) >> DRIFT_BITS;

	if (cpu->checked && grown < JUMP_NS && grown > drift)
		ahead = cpu->ahead + drift;
	cpu->ahead = ahead;
	cpu->checked = clock;
	return ahead;
}

static __noinline int count_taker_elsewhere(struct slot *slot, __u64 who, __u64 ns)
{
	struct taker_key key = {slot->index, slot->generation, who};
	struct control *shared = shared_counts();
	__u64 *sum;

	if (!shared)
		return 0;
	sum = bpf_map_lookup_elem(&takers, &key);
	if (sum)
		*sum += ns;
	else if (bpf_map_update_elem(&takers, &key, &ns, BPF_NOEXIST))
		__sync_fetch_and_add(&shared->lost_takers, 1);
	else
		__sync_fetch_and_add(&shared->more_takers, 1);
	return 0;
}

static __always_inline void count_taker(struct slot *slot, struct detail *detail, __u64 who, __u64 ns)
{
	__u32 at = (who >> 1) & (TAKERS - 1);
	struct taker *taker = &detail->takers[at];

	if (taker->who != who) {
		if (taker->ns) {
			taker = &detail->takers[at ^ 1];
			if (taker->ns && taker->who != who) {
				count_taker_elsewhere(slot, who, ns);
				return;
			}
		}
		taker->who = who;
	}
	taker->ns += ns;
}

struct walk {
	struct slot *slot;
	struct detail *detail;
	struct cpu *cpu;
	__u64 at;
	__u64 begin;
	__u64 until;
};

/* Who left this CPU at one of its switches, and came at the one before; 1: that was all. */
static long count_earlier_taker(__u32 index, struct walk *walk)
{
	struct one_switch *one = &walk->cpu->recent[(walk->at - index) & (RECENT - 1)];
	__u64 from = walk->cpu->recent[(walk->at - index - 1) & (RECENT - 1)].clock;

	if (!from || from > walk->until)
		return 1; /* it has not been in use for so long */
	if (from < walk->begin)
		from = walk->begin;
	if (walk->until > from)
		count_taker(walk->slot, walk->detail, one->who, walk->until - from);
	walk->until = from;
	return from == walk->begin;
}

/* Who ran on a CPU before one of its switches, since a moment of its clock. */
static __noinline int count_earlier_takers(struct slot *slot, struct cpu *cpu, __u64 begin, __u64 at)
{
	__u32 index = slot->index;
	struct walk walk = {
		.slot = slot,
		.detail = bpf_map_lookup_elem(&details, &index),
		.cpu = cpu,
		.at = at,
		.begin = begin,
	};

	if (!walk.detail)
		return 0;
	walk.until = cpu->recent[walk.at & (RECENT - 1)].clock;
	bpf_loop(RECENT - 2, count_earlier_taker, &walk, 0);
	return 0;
}

/* The thread was queued for so long, up to the last switch of this CPU: who ran meanwhile? */
static __always_inline void count_takers(struct slot *slot, struct cpu *cpu, __u64 queued)
{
	__u32 index = slot->index, at = cpu->next - 1;
	struct one_switch *last = &cpu->recent[at & (RECENT - 1)];
	__u64 before = cpu->recent[(at - 1) & (RECENT - 1)].clock, begin = last->clock - queued;
	struct detail *detail = bpf_map_lookup_elem(&details, &index);

	if (!detail || !before)
		return;
	count_taker(slot, detail, last->who, last->clock - (before > begin ? before : begin));
	if (before > begin)
		count_earlier_takers(slot, cpu, begin, cpu->next - 2);
}

/* The thread leaves the run queue of a CPU for another one's, with the first one's lock held: who ran
 * there since a moment of its clock? */
static __always_inline void count_takers_before_move(struct slot *slot, struct rq *rq, __u64 queued)
{
	__u32 key = rq->cpu, index = slot->index;
	struct cpu *cpu = bpf_map_lookup_elem(&cpus, &key);
	struct detail *detail = bpf_map_lookup_elem(&details, &index);
	struct task_struct *runs = rq->curr;
	__u64 clock = rq->clock, begin = clock - queued, came;
	__u32 other;

	if (!cpu || !detail || !runs)
		return;
	other = process_key(runs);
	came = cpu->recent[(cpu->next - 1) & (RECENT - 1)].clock;
	if (!came || came > clock)
		return;
	if (other && pid_of(other) != slot->tgid && other != slot->noted)
		note_name(slot, runs);
	count_taker(slot, detail, who_is(runs), clock - (came > begin ? came : begin));
	if (came > begin)
		count_earlier_takers(slot, cpu, begin, cpu->next - 1);
}

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
	if (other && pid_of(other) != slot->tgid && other != slot->noted)
		note_name(slot, from);
	count_takers(slot, cpu, here);
}

/* Who leaves a CPU to nobody has left it before others are looked for that could run there, which takes
 * some microseconds. */
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

/* Whether a thread waits for bytes of a socket, or for room in it. */
static __always_inline int waits_for_bytes(struct slot *slot)
{
	__u64 state = slot->mark & STATE_MASK;

	return state == POLL || (state >= SOCKET_RECEIVE && state <= SOCKET_CONNECT);
}

/* Whether a thread is in a call on a socket. Over the loopback device, bytes, and the room that a reader
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
		if (tgid != slot->tgid && key != slot->noted)
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

/* The same two for kernels that cannot cast. */
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

/* What a thread does that is looked at, and not switched. */
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
