// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choice of stays that are sampled, for the program that takes stacks (/stacks). waits.bpf.c
 * includes this file.
 *
 * A stay is chosen at random when it begins: one of `weight` stays, whatever its length will be.
 * The lengths of chosen stays, each times its weight, therefore add up to the total on average.
 * The weight follows from how often the thread had such stays before, never from the stay itself:
 * about one stay is chosen in `gap_ns`.
 *
 * The ring `stays` gets records of each chosen stay: its begin, its end, and for a futex wait that
 * was long enough the thread that ended it.
 *
 * To have a stack taken of the current thread, the program fires a tracepoint, on which the unwinder
 * runs in this thread, at once. Without that tracepoint the next context switch of this CPU runs
 * it; `asked` names the thread.
 */
#include "sampled_stays.bpf.h"

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

/* Kinds of stays differ in length: one of them shall not crowd out another. */
static __always_inline __u32 kind_of_stay(__u64 state)
{
	if (state == FUTEX)
		return 0;
	if (state >= FILE_READ && state <= PAGE_FAULT_DISK)
		return 1;
	return state == PREEMPTED || state == WOKEN || state == THROTTLED ? QUEUED : 3;
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
	record->waker = (__u64)pid_of(slot->waker >> 32) << 32 | (__u32)slot->waker;
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

/* A type of the kernel where there is a function that fires the tracepoint. */
typedef void (*btf_trace_bpf_trigger_tp)(void *unused, int nonce);

/* The unwinder looks at the thread that runs here. */
static __always_inline void take_stack(struct asked *cpu, __u32 tid)
{
	if (bpf_core_type_exists(btf_trace_bpf_trigger_tp))
		pull_trigger(cpu, tid);
	else
		cpu->tid = tid;
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
	/* Preempted threads are sampled least: their stacks say the least. */
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
	take_stack(cpu, slot->tid);
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
	take_stack(cpu, tid);
	return 0;
}
