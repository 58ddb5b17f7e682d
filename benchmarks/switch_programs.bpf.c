// SPDX-License-Identifier: GPL-2.0-only
/* Empty programs on the hooks of the ledger of waits, for benchmarks/waits.py: the physical limit. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define EMPTY(name)                                                                                \
	SEC("tp_btf/" #name)                                                                       \
	int empty_##name(void *context)                                                            \
	{                                                                                          \
		return 0;                                                                          \
	}

EMPTY(sched_switch)
EMPTY(sched_waking)
EMPTY(sched_wakeup_new)
EMPTY(sched_process_exec)
EMPTY(task_newtask)

char LICENSE[] SEC("license") = "GPL";
