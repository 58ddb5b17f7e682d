// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interface of the ledger's program (waits.bpf.c) and the one that takes stacks (/stacks): the maps
 * `stays`, `sampling` and `asked`, which the ledger's program owns.
 */
#define STAYS_BYTES (1 << 19)

enum record_kind {
	STAY_BEGAN = 1,
	STAY_ENDED,
	STAY_RELEASED,
	SEEN_ON_CPU, /* by /stacks */
};

struct stay_record {
	__u64 stay;    /* number; 0: SEEN_ON_CPU */
	__u64 at_ns;   /* CLOCK_MONOTONIC, just before the stack is taken; STAY_ENDED: 0 */
	__u64 begin_ns; /* CLOCK_MONOTONIC; STAY_ENDED: how long the stay was, until the wake-up */
	__u64 address; /* as in struct slot; STAY_ENDED: ns from the wake-up until it ran */
	__u64 waker;   /* process id << 32 | thread id, as in struct slot: STAY_ENDED, STAY_RELEASED */
	__u32 tgid;
	__u32 tid; /* whose stay it is */
	__u32 weight;
	__u16 state;
	__u16 kind;
};

/* Requests of /stacks, and answers for it. */
struct sampling {
	__u64 gap_ns;	  /* average time between two chosen stays of a kind of a thread; 0: none is chosen */
	__u64 release_ns; /* who ends a chosen wait for a futex is looked at if it was so long */
	__u64 cost_ns;	  /* a CPU may take one stack in so much time */
	__u64 stays;	  /* number of the last chosen one */
	__u64 beyond_limit; /* were chosen, but a CPU may take no more stacks now */
	__u64 no_room;	  /* records that the ring had no room for */
};

/* Token bucket of a CPU, and the thread whose stack is wanted. */
struct asked {
	__s64 credit_ns; /* of time in which it takes no stack; negative: owed */
	__u64 at_ns;	 /* CLOCK_MONOTONIC, when that was counted */
	__u32 tid;	 /* whose stack is wanted; 0: nobody's */
	__u32 spare;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sampling);
} sampling SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct asked);
} asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STAYS_BYTES);
} stays SEC(".maps");

/* Fires the tracepoint `bpf_trigger_tp`, from Linux 6.10 on: net/bpf/test_run.c. */
extern int bpf_modify_return_test_tp(int nonce) __ksym __weak;

/* The program on that tracepoint, if there is one, takes the stack of the thread that runs here. */
static __always_inline void pull_trigger(struct asked *cpu, __u32 tid)
{
	cpu->tid = tid;
	bpf_modify_return_test_tp(tid);
}
