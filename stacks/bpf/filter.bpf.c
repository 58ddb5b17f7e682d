// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs before the unwinder, and lets it look at threads whose stacks are wanted only. Both must be
 * programs of one type, of perf events or of the tracepoint: a tail call needs that.
 *
 * The maps of the included files are those of the ledger's program (sampler/src/ledger/waits.bpf.c);
 * `make bpf` compiles this.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include "../../sampler/src/ledger/sampled_stays.bpf.h"
#include "../../sampler/src/slots/watched_processes.bpf.h"

#define ON_CPU 1 /* enum state of ledgers.bpf.h */

PROCESS_MAPS(targets, watched);

#define UNWINDER(name)                                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY);                                             \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, __u32);                                                              \
	} name SEC(".maps")

UNWINDER(of_events);
UNWINDER(of_tracepoint);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} unwound SEC(".maps"); /* how often the unwinder was called */

static __always_inline void unwind(void *context, void *unwinder)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&unwound, &zero);

	if (!count)
		return;
	++*count;
	bpf_tail_call(context, unwinder, 0);
	--*count;
}

/* Does the ledger's program want the stack of the thread that runs here? */
static __always_inline int is_asked(void)
{
	__u32 zero = 0, tid = bpf_get_current_pid_tgid();
	struct asked *cpu = bpf_map_lookup_elem(&asked, &zero);

	if (!cpu || !tid || cpu->tid != tid)
		return 0;
	cpu->tid = 0;
	return 1;
}

SEC("tp_btf/bpf_trigger_tp")
int on_trigger(void *context)
{
	if (is_asked())
		unwind(context, &of_tracepoint);
	return 0;
}

SEC("perf_event")
int on_context_switch(void *context)
{
	if (is_asked())
		unwind(context, &of_events);
	return 0;
}

/* A clock of this CPU: does a thread of a target run here? */
SEC("perf_event")
int on_clock(void *context)
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
	unwind(context, &of_events);
	return 0;
}

/* Wants the stack of who runs this, to see whether the tracepoint reaches the unwinder. */
SEC("syscall")
int try_trigger(void *unused)
{
	__u32 zero = 0;
	struct asked *cpu = bpf_map_lookup_elem(&asked, &zero);

	if (cpu)
		pull_trigger(cpu, bpf_get_current_pid_tgid());
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
