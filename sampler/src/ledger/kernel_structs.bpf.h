// SPDX-License-Identifier: GPL-2.0-only
/* Members of the kernel's structs, flags and modes that the ledger's program (waits.bpf.c) reads. */

/* Members of the kernel's structs that this program reads; the loader moves offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

#define COMM 16 /* TASK_COMM_LEN */
#define TASK_ON_RQ_MIGRATING 2 /* kernel/sched/sched.h */
#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08
#define TASK_DEAD 0x80
#define TASK_FROZEN 0x8000	    /* by the freezer of version 1, from Linux 6.1 on */
#define JOBCTL_TRAP_FREEZE (1 << 23) /* by version 2 (include/linux/sched/jobctl.h) */
#define PF_KTHREAD 0x00200000

/* Bits of a preemption count: serving a softirq, and serving an interrupt or an NMI. */
#define SOFTIRQ 0x00000100
#define HARDIRQ 0x00ff0000

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFIFO 0010000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFBLK 0060000

struct inode {
	unsigned short i_mode;
} KERNEL;

struct file {
	struct inode *f_inode;
	void *private_data;
} KERNEL;

struct pipe_inode_info {
	unsigned int head;
	unsigned int tail;
	unsigned int max_usage;
} KERNEL;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNEL;

struct files_struct {
	struct fdtable *fdt;
} KERNEL;

struct task_struct;

struct list_head {
	struct list_head *next;
} KERNEL;

struct rq {
	struct task_struct *curr;
	__u64 clock;
	__u64 clock_task;
	int cpu;
} KERNEL;

struct cfs_rq {
	struct rq *rq;
	int throttle_count; /* limits, of its group and of those above, that hold it now */
	__u64 throttled_clock_self; /* since when it holds threads, by the clock of `rq`; 0: it holds none */
	__u64 throttled_clock_self_time; /* how long it held threads before */
} KERNEL;

/* A control group of the CPU controller. */
struct task_group {
	struct cfs_rq **cfs_rq; /* by CPU */
} KERNEL;

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 exec_start; /* up to when `sum_exec_runtime` counts, by the run queue's clock of tasks */
	__u64 sum_exec_runtime;
} KERNEL;

/* Stands for any place in memory: what matters is how long its members are. */
struct load_weight {
	unsigned long weight;
	__u32 inv_weight;
} KERNEL;

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_queued; /* by the clock of its run queue; 0: it is in none */
} KERNEL;

struct task_struct {
	int pid;
	int tgid;
	int on_cpu;
	int on_rq;
	unsigned int flags;
	unsigned int __state;
	unsigned in_iowait : 1;
	unsigned frozen : 1; /* also of a parent in vfork(2), frozen or not */
	unsigned long jobctl;
	__u64 start_time;
	__u64 start_boottime;
	struct files_struct *files;
	struct sched_entity se;
	struct task_group *sched_task_group;
	struct list_head throttle_node; /* among the throttled ones of its queue; else alone */
	_Bool throttled;		/* from Linux 6.18 on */
	struct sched_info sched_info;
	struct task_struct *group_leader;
	__u64 self_exec_id; /* of its leader: how many programs the process has executed, by and large */
	char comm[COMM];
} KERNEL;

struct thread_info___arm64 {
	__u64 preempt_count;
} KERNEL;

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
} KERNEL;

struct thread_info___x86 {
	__u32 status;
} KERNEL;

struct task_struct___x86 {
	struct thread_info___x86 thread_info;
} KERNEL;

struct pt_regs___x86 {
	unsigned long di;
	unsigned long dx;
	unsigned long orig_ax;
} KERNEL;

struct pt_regs___arm64 {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
	__u64 pstate;
} KERNEL;

/* In a system call of 32-bit programs, whose numbers are others. */
#define TS_COMPAT 0x0002
#define PSR_MODE32_BIT 0x10

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;
