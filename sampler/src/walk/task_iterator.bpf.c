// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the threads of processes, and writes all counters of each thread into memory that the
 * collector maps.
 *
 * walk_members goes through many processes, from thread to thread, in one call (since Linux 6.7).
 * read_counters is for older kernels (since Linux 6.1): the collector makes a link of it for each
 * process and reads the link's file; the kernel walks the threads of that process and calls the
 * program for each. That takes three times as long, since the kernel takes references and looks up
 * ids between two threads.
 *
 * Nothing runs between two readings.
 *
 * `make bpf` compiles this. The layout of struct block is mirrored in block.rs; tests hold what is
 * read there against /proc and taskstats.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define ROWS 4096
#define FIELDS 30
/* A cache line more than rows: else the same row of all columns is in one set of the cache. */
#define STRIDE (ROWS + 8)
#define USEC 1000

/* Members of the kernel's structs that this program reads; the loader moves offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

struct sched_entity {
	__u64 sum_exec_runtime;
} KERNEL;

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
} KERNEL;

struct task_io_accounting {
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 cancelled_write_bytes;
} KERNEL;

struct task_delay_info {
	__u64 blkio_delay;
	__u64 swapin_delay;
	__u64 freepages_delay;
	__u64 thrashing_delay;
	__u64 compact_delay;
	__u64 wpcopy_delay;
	__u64 irq_delay;
	__u32 blkio_count;
	__u32 swapin_count;
	__u32 freepages_count;
	__u32 thrashing_count;
	__u32 compact_count;
	__u32 wpcopy_count;
	__u32 irq_count;
} KERNEL;

struct signal_struct {
	int nr_threads;
} KERNEL;

struct task_struct {
	unsigned int __state;
	int pid;
	int tgid;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	__u64 utime;
	__u64 stime;
	__u64 start_time;
	__u64 self_exec_id; /* one more with each program that the process executes */
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_io_accounting ioac;
	struct task_delay_info *delays;
	struct signal_struct *signal;
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

/* Counters by column, so that a frame's columns are made without taking rows apart. */
struct block {
	__u32 used;    /* rows; the reader sets it to 0 */
	__u32 threads; /* of the process, when the last of them was visited */
	__u64 given;   /* bit n: the kernel has what column n of counters is made of */
	__u64 executed; /* self_exec_id of the last row; 0: this kernel has none */
	__u64 spare[5];
	__u32 tid[ROWS];
	__u32 state[ROWS];
	__u64 start_ns[ROWS]; /* CLOCK_MONOTONIC */
	char comm[ROWS][16];
	__u64 counters[FIELDS][STRIDE];
};

#define RUNNABLE 1 /* on a CPU or waiting for one */
#define DELAYS 2   /* the thread has a record of delays */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct block);
} blocks SEC(".maps");

/* Counts of calls as well: taskstats rounds them all (xacct_add_tsk in kernel/tsacct.c). */
static __always_inline __u64 rounded(__u64 value)
{
	return value & ~1023ULL;
}

/* A constant once the program is loaded: what the kernel has not is never looked at. */
#define HAS(column, member) ((__u64)bpf_core_field_exists(member) << (column))

#define GIVE(column, member, value)                                                                \
	do {                                                                                       \
		if (bpf_core_field_exists(member))                                                 \
			block->counters[column][row] = (value);                                    \
	} while (0)

#define DELAY(column, member)                                                                      \
	do {                                                                                       \
		GIVE(column, delays->member##_delay, delays->member##_delay);                      \
		GIVE((column) + 1, delays->member##_count, delays->member##_count);                \
	} while (0)

#define HAS_DELAY(column, member)                                                                  \
	(HAS(column, delays->member##_delay) | HAS((column) + 1, delays->member##_count))

/*
 * Counters of a thread as taskstats gives them, from the same members: kernel/taskstats.c
 * (fill_stats), kernel/tsacct.c (bacct_add_tsk, xacct_add_tsk), kernel/delayacct.c
 * (delayacct_add_tsk). The columns are in the order of FIELDS in ../../walk/block.py.
 */
static __always_inline void write_row(struct block *block, __u32 row, struct task_struct *task)
{
	struct task_delay_info *delays = task->delays;
	__u32 column;

	block->used = row + 1;
	block->threads = task->signal->nr_threads;
	if (bpf_core_field_exists(task->self_exec_id))
		block->executed = task->self_exec_id;
	block->tid[row] = task->pid;
	block->state[row] = (task->__state ? 0 : RUNNABLE) | (delays ? DELAYS : 0);
	block->start_ns[row] = task->start_time;
	__builtin_memcpy(block->comm[row], task->comm, sizeof task->comm);
	GIVE(0, task->se.sum_exec_runtime, task->se.sum_exec_runtime);
	GIVE(1, task->sched_info.run_delay, task->sched_info.run_delay);
	GIVE(2, task->sched_info.pcount, task->sched_info.pcount);
	GIVE(3, task->utime, task->utime / USEC);
	GIVE(4, task->stime, task->stime / USEC);
	GIVE(5, task->nvcsw, task->nvcsw);
	GIVE(6, task->nivcsw, task->nivcsw);
	GIVE(7, task->min_flt, task->min_flt);
	GIVE(8, task->maj_flt, task->maj_flt);
	GIVE(9, task->ioac.rchar, rounded(task->ioac.rchar));
	GIVE(10, task->ioac.wchar, rounded(task->ioac.wchar));
	GIVE(11, task->ioac.syscr, rounded(task->ioac.syscr));
	GIVE(12, task->ioac.syscw, rounded(task->ioac.syscw));
	GIVE(13, task->ioac.read_bytes, rounded(task->ioac.read_bytes));
	GIVE(14, task->ioac.write_bytes, rounded(task->ioac.write_bytes));
	GIVE(15, task->ioac.cancelled_write_bytes, rounded(task->ioac.cancelled_write_bytes));
	if (delays) {
		DELAY(16, blkio);
		DELAY(18, swapin);
		DELAY(20, freepages);
		DELAY(22, thrashing);
		DELAY(24, compact);
		DELAY(26, wpcopy);
		DELAY(28, irq);
	} else {
		for (column = 16; column < FIELDS; column++)
			block->counters[column][row] = 0;
	}
	if (!row)
		block->given =
			HAS(0, task->se.sum_exec_runtime) | HAS(1, task->sched_info.run_delay) |
			HAS(2, task->sched_info.pcount) | HAS(3, task->utime) |
			HAS(4, task->stime) | HAS(5, task->nvcsw) | HAS(6, task->nivcsw) |
			HAS(7, task->min_flt) | HAS(8, task->maj_flt) | HAS(9, task->ioac.rchar) |
			HAS(10, task->ioac.wchar) | HAS(11, task->ioac.syscr) |
			HAS(12, task->ioac.syscw) | HAS(13, task->ioac.read_bytes) |
			HAS(14, task->ioac.write_bytes) |
			HAS(15, task->ioac.cancelled_write_bytes) | HAS_DELAY(16, blkio) |
			HAS_DELAY(18, swapin) | HAS_DELAY(20, freepages) |
			HAS_DELAY(22, thrashing) | HAS_DELAY(24, compact) |
			HAS_DELAY(26, wpcopy) | HAS_DELAY(28, irq);
}

SEC("iter/task")
int read_counters(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct block *block;
	__u32 zero = 0, row;

	if (!task)
		return 0;
	block = bpf_map_lookup_elem(&blocks, &zero);
	if (!block)
		return 0;
	row = block->used;
	if (row >= ROWS)
		return 0;
	write_row(block, row, task);
	/* A byte ends the read, and with it this block; the next read goes on with another. */
	if (row == ROWS - 1)
		bpf_seq_write(context->meta->seq, &zero, 1);
	return 0;
}

/* include/uapi/linux/bpf.h since 6.7 */
struct bpf_iter_task {
	__u64 opaque[3];
} __attribute__((aligned(8)));

#define PROC_THREADS 2 /* BPF_TASK_ITER_PROC_THREADS of kernel/bpf/task_iter.c */

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

#define MEMBERS 4096

/*
 * The processes that walk_members walks, where each one's rows end in the block, and how many threads
 * each had then; MISSED where the walk could not go on behind the block before.
 */
struct visits {
	__u32 pid[MEMBERS];
	__u32 end[MEMBERS];
	__u32 threads[MEMBERS];
};

#define MISSED (~0U)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct visits);
} visits SEC(".maps");

/* include/uapi/linux/bpf.h since 6.4 */
struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym __weak;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym __weak;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym __weak;

/* Request of the collector to walk_members. */
struct stretch {
	__u32 first; /* member to begin with; the program writes where the next run goes on */
	__u32 count; /* of members */
	__u32 tid;   /* of the thread behind which the first member's walk begins; 0: at its start */
	__u32 pad;
};

/* Fills the block; if it is full then, the next run goes on behind its last thread. A process that has
 * ended has no rows.
 */
SEC("syscall")
int walk_members(struct stretch *stretch)
{
	__u32 zero = 0, after = stretch->tid, at, row;
	struct task_struct *first, *task;
	struct bpf_iter_task threads;
	struct bpf_iter_num members;
	struct visits *shared;
	struct block *block;
	int *number, full = 0, pid;

	block = bpf_map_lookup_elem(&blocks, &zero);
	shared = bpf_map_lookup_elem(&visits, &zero);
	if (!block || !shared)
		return 0;
	block->used = 0;
	bpf_rcu_read_lock();
	bpf_iter_num_new(&members, stretch->first, stretch->count);
	while ((number = bpf_iter_num_next(&members))) {
		at = *number;
		if (at >= MEMBERS || full)
			break;
		pid = shared->pid[at];
		first = bpf_task_from_pid(after ? after : pid);
		shared->threads[at] = after ? MISSED : 0;
		if (first && first->tgid == pid) {
			shared->threads[at] = first->signal->nr_threads;
			bpf_iter_task_new(&threads, first, PROC_THREADS);
			while ((task = bpf_iter_task_next(&threads))) {
				if (after) {
					after = 0;
					continue;
				}
				row = block->used;
				if (row >= ROWS) {
					full = 1;
					break;
				}
				write_row(block, row, task);
			}
			bpf_iter_task_destroy(&threads);
		}
		if (first)
			bpf_task_release(first);
		after = 0;
		shared->end[at] = block->used;
		stretch->first = at + !full;
	}
	bpf_iter_num_destroy(&members);
	bpf_rcu_read_unlock();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
