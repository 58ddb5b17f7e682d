// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ledgers in memory shared with the collector: states, slots, tables beside slots, and their maps.
 *
 * ../slots and this folder mirror the structs; tests compare them.
 */
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
#define PID_BITS 22   /* of a process id: PID_MAX_LIMIT of the kernel is 2^22 */
#define BIRTHS 1024   /* moments of birth that a key of a process tells apart, in a circle */
#define BIRTH_BITS 24 /* from one of these to the next it is 2^24 ns */

/* States of a thread. What is below FIRST_WAIT is not a wait. */
enum state {
	ENDED,
	ON_CPU,
	PREEMPTED, /* in a run queue since it was switched away from while it could go on */
	WOKEN,	   /* in a run queue since it was woken up */
	FUTEX,
	POLL, /* and pause, sigwait */
	SLEEP,
	SOCKET_RECEIVE,
	SOCKET_SEND,
	SOCKET_ACCEPT,
	SOCKET_CONNECT,
	PIPE, /* and eventfd, signalfd, terminals */
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

/* States from FIRST_WAIT on last until `woken_ns`. */
#define FIRST_WAIT FUTEX
#define STATE_BITS 5
#define STATE_MASK ((1ULL << STATE_BITS) - 1)

/* Values of `calls` besides states: the file in the call's first argument decides. */
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

/* Ledger of a thread. Its first 64 bytes show a reader if it has changed. */
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
	__u32 noted;	  /* process and program whose name was noted last, by `program_key` */
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

/* Further counters of the thread of a slot. */
struct detail {
	__u32 histogram[STATES][BUCKETS]; /* of finished stays; bucket b: below 2^(b + 10) ns */
	struct edge edges[EDGES];
	struct taker takers[TAKERS];
	__u64 queue; /* address of the run queue in which the thread was throttled last */
	__u64 held_ns; /* how long that had held threads when it was; see held_time() */
};

/* Wake-ups that found no room in the slot's own table. */
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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct detail);
} details SEC(".maps");

/* State of a thread that waits in a system call, or one of READS to FUTEXES, by number of the call. */
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

/* Processes other than the attached ones, by key; the collector removes them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NAMES);
	__type(key, __u32);
	__type(value, struct name);
} names SEC(".maps");
