// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which stays of threads are sampled, for the program that takes stacks (/stacks). waits.bpf.c
 * includes this.
 *
 * A stay is chosen when it begins, by chance: one of so many (`weight`), whatever its length will
 * be. So what the chosen ones last, each times its weight, adds up to what all last, on average.
 * The weight is set by how often the thread had stays of such a kind before, never by the stay
 * itself: about one is chosen in `gap_ns`.
 *
 * For each chosen stay records are put into the ring `stays`: it has begun, who ended it and where
 * (a wait for a futex that was long enough), it has ended. Where a stack is wanted, in the thread
 * that leaves its CPU or in the one that wakes it, the program writes to `trigger`: a watchpoint on
 * it runs the unwinder in this thread, at once. Without a watchpoint the next context switch of
 * this CPU does, which for the thread that leaves is the one under way; `asked` says of whom.
 */
#define STAYS_BYTES (1 << 19)
#define QUEUED 2 /* the kind of those in a run queue */
#define MAX_WEIGHT 65535
/* Chances are set again after so many stays, or so much time in units of 2^12 ns. */
#define CHANCE_STAYS 32
/* A new thread's first ones are all chosen: many threads at once must not use up all stacks. */
#define FIRST_STAYS 4
#define FIRST (1 << 15)
#define CHANCE_TIME (1 << 15)
#define UNIT_BITS 12
#define MAX_CREDIT_NS 250000000

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
	__u64 waker;   /* as in struct slot: STAY_ENDED, STAY_RELEASED */
	__u32 tgid;
	__u32 tid; /* whose stay it is */
	__u32 weight;
	__u16 state;
	__u16 kind;
};

/* What /stacks asks for, and what it learns. */
struct sampling {
	__u64 gap_ns;	  /* average time between two chosen stays of a kind of a thread; 0: none is chosen */
	__u64 release_ns; /* who ends a chosen wait for a futex is looked at if it was so long */
	__u64 cost_ns;	  /* a CPU may take one stack in so much time */
	__u64 trigger_at; /* where `trigger` stands in the kernel's memory */
	__u64 stays;	  /* number of the last chosen one */
	__u64 beyond_limit; /* were chosen, but a CPU may take no more stacks now */
	__u64 no_room;	  /* records that the ring had no room for */
	__u64 spare;
	__u64 trigger;	  /* in a cache line of its own */
	__u64 more[7];
};

/* Of a CPU. */
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

static __always_inline struct sampling *shared_sampling(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sampling, &zero);
}

static __always_inline struct sampling *is_sampling(void)
{
	struct sampling *shared = shared_sampling();

	return shared && shared->gap_ns ? shared : 0;
}

/* Where a watchpoint is to be set. */
static __always_inline void tell_trigger(void)
{
	struct sampling *shared = shared_sampling();

	if (shared)
		shared->trigger_at = (__u64)&shared->trigger;
}

/* Kinds of stays differ in length: one of them shall not crowd out another. */
static __always_inline __u32 kind_of_stay(__u64 state)
{
	if (state == FUTEX)
		return 0;
	if (state >= FILE_READ && state <= PAGE_FAULT_DISK)
		return 1;
	return state == PREEMPTED || state == WOKEN ? QUEUED : 3;
}

/* One of how many such stays is chosen. */
static __always_inline __u32 weight_of(struct chance *chance, __u64 now, __u64 gap_ns)
{
	__u32 unit = now >> UNIT_BITS, past = unit - chance->since, stays;
	__u64 weight;

	if (!chance->weight) {
		chance->weight = 1;
		chance->since = unit;
		chance->stays = FIRST;
		return 1;
	}
	stays = ++chance->stays & (FIRST - 1);
	if (stays < (chance->stays & FIRST ? FIRST_STAYS : CHANCE_STAYS) && past < CHANCE_TIME)
		return chance->weight;
	weight = (gap_ns >> UNIT_BITS) * stays / (past ? past : 1);
	chance->weight = weight > MAX_WEIGHT ? MAX_WEIGHT : weight ? weight : 1;
	chance->since = unit;
	chance->stays = 0;
	return chance->weight;
}

/* A record of the kind, filled as far as the slot tells; 0: there is no room. */
static __always_inline struct stay_record *new_record(struct sampling *shared, struct slot *slot,
						      __u16 kind)
{
	struct stay_record *record = bpf_ringbuf_reserve(&stays, sizeof *record, 0);

	if (!record) {
		__sync_fetch_and_add(&shared->no_room, 1);
		return 0;
	}
	record->stay = slot->stay;
	record->at_ns = 0;
	record->waker = slot->waker;
	record->tgid = slot->tgid;
	record->tid = slot->tid;
	record->weight = 0;
	record->state = slot->mark & STATE_MASK;
	record->kind = kind;
	return record;
}

/* Count time for which this CPU took no stack; return what it has now. */
static __always_inline __s64 credit_of(struct asked *cpu, __u64 now)
{
	cpu->credit_ns += now - cpu->at_ns;
	cpu->at_ns = now;
	if (cpu->credit_ns > MAX_CREDIT_NS)
		cpu->credit_ns = MAX_CREDIT_NS;
	return cpu->credit_ns;
}

/* The unwinder looks at the thread that runs here. */
static __always_inline void take_stack(struct sampling *shared, struct asked *cpu, __u32 tid)
{
	cpu->tid = tid;
	*(volatile __u64 *)&shared->trigger = tid;
}

/* A stay begins: is it chosen? What the slot says of it is up to date. */
static __noinline int begin_stay(struct slot *slot)
{
	__u64 begin = slot->mark >> STATE_BITS, now;
	struct sampling *shared = is_sampling();
	struct stay_record *record;
	struct asked *cpu;
	__u32 zero = 0, weight, kind;

	if (!shared)
		return 0;
	kind = kind_of_stay(slot->mark & STATE_MASK);
	/* Where a thread that could go on was switched away from says the least. */
	weight = weight_of(&slot->chances[kind], begin, shared->gap_ns << (kind == QUEUED ? 2 : 0));
	if (weight > 1 && bpf_get_prandom_u32() % weight)
		return 0;
	cpu = bpf_map_lookup_elem(&asked, &zero);
	if (!cpu)
		return 0;
	now = bpf_ktime_get_ns();
	if (credit_of(cpu, now) < (__s64)shared->cost_ns) {
		__sync_fetch_and_add(&shared->beyond_limit, 1);
		return 0;
	}
	cpu->credit_ns -= shared->cost_ns;
	slot->stay = __sync_fetch_and_add(&shared->stays, 1) + 1;
	record = new_record(shared, slot, STAY_BEGAN);
	if (!record) {
		slot->stay = 0;
		return 0;
	}
	record->at_ns = now;
	record->begin_ns = begin;
	record->address = slot->address;
	record->weight = weight;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	take_stack(shared, cpu, slot->tid);
	return 0;
}

/* A chosen stay is over, maybe when no more are chosen, such as between two windows of time. */
static __noinline int end_stay(struct slot *slot, __u64 wait, __u64 delay)
{
	struct sampling *shared = shared_sampling();
	struct stay_record *record;

	if (shared) {
		record = new_record(shared, slot, STAY_ENDED);
		if (record) {
			record->begin_ns = wait;
			record->address = delay;
			bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
		}
	}
	slot->stay = 0;
	return 0;
}

/* The running thread ends a chosen wait for a futex. */
static __noinline int release_stay(struct slot *slot, __u32 tid, __u64 now)
{
	__u64 left = slot->mark >> STATE_BITS;
	struct sampling *shared = is_sampling();
	struct stay_record *record;
	struct asked *cpu;
	__u32 zero = 0;

	if (!shared || (slot->mark & STATE_MASK) != FUTEX || now < left + shared->release_ns)
		return 0;
	cpu = bpf_map_lookup_elem(&asked, &zero);
	if (!cpu)
		return 0;
	now = bpf_ktime_get_ns();
	/* Looked at without credit, too, and owed: there are no more releases than chosen stays. */
	credit_of(cpu, now);
	cpu->credit_ns -= shared->cost_ns;
	record = new_record(shared, slot, STAY_RELEASED);
	if (!record)
		return 0;
	record->at_ns = now;
	record->begin_ns = left;
	record->address = slot->address;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	take_stack(shared, cpu, tid);
	return 0;
}
