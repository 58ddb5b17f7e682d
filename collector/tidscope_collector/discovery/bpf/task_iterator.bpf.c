// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists the threads of a process, with a mark that moves whenever a thread has run.
 *
 * The collector makes a link of this program for each process that it is attached to and reads the
 * link's file: the kernel walks the threads of that process (since Linux 6.1) and calls the program
 * for each. Nothing runs between two readings.
 *
 * `make bpf` compiles this. The layout of struct record is mirrored in ../marks.py; a test holds what
 * is read there against /proc.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Of the kernel's structs only what is used here; the loader moves the offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

struct sched_entity {
	__u64 sum_exec_runtime;
} KERNEL;

struct task_struct {
	unsigned int __state;
	int pid;
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 start_time;
	struct sched_entity se;
	char comm[16];
} KERNEL;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;

/* All of it is the mark: where it is the same twice and the thread was not runnable, it has not run. */
struct record {
	__u32 tid;
	__u32 runnable; /* on a CPU or waiting for one */
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 run_ns;	/* on a CPU, up to the last tick */
	__u64 switches;
	char comm[16]; /* another thread may change it */
};

SEC("iter/task")
int list_threads(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct record record;

	if (!task)
		return 0;
	record.tid = task->pid;
	record.runnable = !task->__state;
	record.start_ns = task->start_time;
	record.run_ns = task->se.sum_exec_runtime;
	record.switches = task->nvcsw + task->nivcsw;
	__builtin_memcpy(record.comm, task->comm, sizeof record.comm);
	bpf_seq_write(context->meta->seq, &record, sizeof record);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
