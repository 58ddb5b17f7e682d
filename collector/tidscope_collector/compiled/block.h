/* SPDX-License-Identifier: Apache-2.0
 *
 * The block that walk_threads of ../discovery/bpf/task_iterator.bpf.c fills, and how that program is run.
 */
#ifndef TIDSCOPE_BLOCK_H
#define TIDSCOPE_BLOCK_H
#include "common.h"

enum { BLOCK_ROWS = 4096, BLOCK_FIELDS = 30, STRIDE = BLOCK_ROWS + 8 };
enum { RUNNABLE = 1, DELAYS = 2 }; /* bits of a state */
enum { PROG_RUN = 10 };

struct block {
	__u32 used, threads;
	__u64 given, spare[6];
	__u32 tid[BLOCK_ROWS], state[BLOCK_ROWS];
	__s64 start_ns[BLOCK_ROWS];
	__u64 comm[BLOCK_ROWS][2];
	__u64 counters[BLOCK_FIELDS][STRIDE];
};

/* The part of union bpf_attr that runs a program (linux/bpf.h). */
struct run {
	__u32 program, result, data_in_bytes, data_out_bytes;
	__u64 data_in, data_out;
	__u32 repeat, took_ns, context_in_bytes, context_out_bytes;
	__u64 context_in, context_out;
	__u32 flags, cpu, batch, pad;
};

/* Lets the program fill the block, from a thread on or behind it; 0 or -errno. */
static inline long run_walk(__u64 program, __u32 tid, __u32 after)
{
	struct { __u32 tid, after; } from = {tid, after};
	struct run run = {(__u32)program, .context_in = (__u64)&from,
			  .context_in_bytes = sizeof from};

	return call(__NR_bpf, PROG_RUN, (long)&run, sizeof run, 0, 0, 0);
}
#endif
