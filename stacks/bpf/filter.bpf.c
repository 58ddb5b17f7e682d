// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs before the unwinder, and lets it look at threads whose stacks are wanted only. Both are
 * programs of perf events: a tail call needs that.
 *
 * The maps `targets`, `watched`, `asked`, `stays` and `sampling` are those of the ledger's program
 * (sampler/src/ledger/waits.bpf.c, stays.bpf.h); `make bpf` compiles this.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#define TARGETS 32768
#define WATCHED 8192
#define STAYS_BYTES (1 << 19)
#define ON_CPU 1
#define SEEN_ON_CPU 4

struct watch {
	__u32 come;
	__u32 gone;
};

struct stay_record {
	__u64 stay;
	__u64 at_ns;
	__u64 begin_ns;
	__u64 address;
	__u64 waker;
	__u32 tgid;
	__u32 tid;
	__u32 weight;
	__u16 state;
	__u16 kind;
};

struct sampling {
	__u64 unused[6];
	__u64 no_room;
	__u64 spare;
	__u64 trigger;
	__u64 more[7];
};

struct asked {
	__s64 credit_ns;
	__u64 at_ns;
	__u32 tid;
	__u32 spare;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WATCHED);
	__type(key, __u32);
	__type(value, struct watch);
} watched SEC(".maps");

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

/* The unwinder. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwinder SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} unwound SEC(".maps"); /* how often the unwinder was called */

static __always_inline void unwind(struct bpf_perf_event_data *context)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&unwound, &zero);

	if (!count)
		return;
	++*count;
	bpf_tail_call(context, &unwinder, 0);
	--*count;
}

/* The ledger's program wants the stack of the thread that runs here. */
SEC("perf_event")
int on_trigger(struct bpf_perf_event_data *context)
{
	__u32 zero = 0, tid = bpf_get_current_pid_tgid();
	struct asked *cpu = bpf_map_lookup_elem(&asked, &zero);

	if (!cpu || !tid || cpu->tid != tid)
		return 0;
	cpu->tid = 0;
	unwind(context);
	return 0;
}

/* A clock of this CPU: does a thread of a target run here? */
SEC("perf_event")
int on_clock(struct bpf_perf_event_data *context)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32, key = tgid & (WATCHED - 1), zero = 0;
	struct stay_record *record;
	struct sampling *shared;
	struct watch *watch;

	if (!tgid)
		return 0;
	watch = bpf_map_lookup_elem(&watched, &key);
	if (!watch || watch->come == watch->gone || !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	record = bpf_ringbuf_reserve(&stays, sizeof *record, 0);
	if (!record) {
		shared = bpf_map_lookup_elem(&sampling, &zero);
		if (shared)
			__sync_fetch_and_add(&shared->no_room, 1);
		return 0;
	}
	*record = (struct stay_record){
		.at_ns = bpf_ktime_get_ns(),
		.tgid = tgid,
		.tid = id,
		.weight = 1,
		.state = ON_CPU,
		.kind = SEEN_ON_CPU,
	};
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	unwind(context);
	return 0;
}

/* Wants the stack of who runs this, to see whether a watchpoint reaches the unwinder. */
SEC("syscall")
int pull_trigger(void *unused)
{
	__u32 zero = 0, tid = bpf_get_current_pid_tgid();
	struct asked *cpu = bpf_map_lookup_elem(&asked, &zero);
	struct sampling *shared = bpf_map_lookup_elem(&sampling, &zero);

	if (!cpu || !shared)
		return 0;
	cpu->tid = tid;
	*(volatile __u64 *)&shared->trigger = tid;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
