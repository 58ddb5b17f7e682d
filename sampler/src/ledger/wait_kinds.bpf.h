// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kind of a thread's wait: by its system call, the files of that call, and how it sleeps. waits.bpf.c
 * includes this file.
 */

/* From Linux 6.2 on (`casts`) any place in memory can be read without a call. */
static __always_inline struct load_weight *any_place(const void *place)
{
	return bpf_rdonly_cast(place, bpf_core_type_id_kernel(struct load_weight));
}

/* The kind of the file that a descriptor stands for; 0 where it cannot be seen. */
static __always_inline __u32 file_mode(struct task_struct *task, unsigned long descriptor, int casts)
{
	struct load_weight *place;
	struct fdtable *table;
	struct inode *inode;
	struct file *file;
	__u16 mode = 0;

	if (!task->files)
		return 0;
	table = task->files->fdt;
	if (descriptor >= table->max_fds)
		return 0;
	if (casts) {
		place = any_place(table->fd + descriptor);
		file = bpf_rdonly_cast((void *)place->weight, bpf_core_type_id_kernel(struct file));
		return file->f_inode->i_mode & S_IFMT;
	}
	if (bpf_probe_read_kernel(&file, sizeof file, table->fd + descriptor) || !file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	bpf_core_read(&mode, sizeof mode, &inode->i_mode);
	return mode & S_IFMT;
}

static __always_inline enum state by_file(__u64 kind, __u32 mode, int disk)
{
	int file = mode == S_IFREG || mode == S_IFDIR || mode == S_IFBLK;

	if (kind == SYNCS)
		return disk ? FILE_SYNC_DISK : FILE_SYNC;
	/* The bytes may come from a file: sendfile(2). */
	if (mode == S_IFSOCK && disk)
		return FILE_READ_DISK;
	if (mode == S_IFSOCK)
		return kind == READS ? SOCKET_RECEIVE : SOCKET_SEND;
	if (!file && !disk)
		return PIPE;
	if (kind == READS)
		return disk ? FILE_READ_DISK : FILE_READ;
	return disk ? FILE_WRITE_DISK : FILE_WRITE;
}

/* The fill of a pipe that a descriptor stands for: how many of its places are free, in `free`, and taken. */
static __always_inline __u32 fill_of_pipe(struct task_struct *task, unsigned long descriptor, __u32 *free)
{
	struct pipe_inode_info *pipe;
	__u32 taken, most;
	struct file *file;

	bpf_probe_read_kernel(&file, sizeof file, task->files->fdt->fd + descriptor);
	pipe = BPF_CORE_READ(file, private_data);
	taken = BPF_CORE_READ(pipe, head) - BPF_CORE_READ(pipe, tail);
	most = BPF_CORE_READ(pipe, max_usage);
	*free = most > taken ? most - taken : 0;
	return taken;
}

/* Wait of a thread that moves bytes between descriptors, one of which is a pipe: splice(2). */
static __noinline int splice_wait(struct task_struct *task, unsigned long from, unsigned long to, int disk)
{
	__u32 source = file_mode(task, from, 0), target = file_mode(task, to, 0), free = 0;

	if (disk || !source || !target)
		return by_file(source == S_IFIFO ? WRITES : READS, source == S_IFIFO ? target : source, disk);
	if (target == S_IFIFO) {
		fill_of_pipe(task, to, &free);
		return free ? by_file(READS, source, 0) : PIPE;
	}
	return fill_of_pipe(task, from, &free) ? by_file(WRITES, target, 0) : PIPE;
}

/* True if a thread that sleeps in such a state does so because its control group is frozen. */
static __always_inline int is_frozen(struct task_struct *task, unsigned int state)
{
	if (state & TASK_FROZEN)
		return 1;
	if (!bpf_core_field_exists(task->frozen) || !(task->jobctl & JOBCTL_TRAP_FREEZE))
		return 0;
	return BPF_CORE_READ_BITFIELD(task, frozen);
}

/* In place of the number of a system call: the thread is in none, or in one of a 32-bit program. */
#define NO_CALL (-1)
#define OTHER_NUMBERS (-2)
#define NO_REGISTERS (-3)

/* The number of the system call that a thread is in, and two of its arguments. Registers are those with
 * which it entered the kernel; a call that goes on after a signal has the old ones. */
static __always_inline long call_of(struct task_struct *task, unsigned long *first, unsigned long *third)
{
	void *registers = (void *)bpf_task_pt_regs(task);
	int other_numbers;
	long call;

	if (!registers)
		return NO_REGISTERS;
	if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax)) {
		call = (long)((struct pt_regs___x86 *)registers)->orig_ax;
		*first = ((struct pt_regs___x86 *)registers)->di;
		*third = ((struct pt_regs___x86 *)registers)->dx;
		other_numbers = ((struct task_struct___x86 *)task)->thread_info.status & TS_COMPAT;
	} else {
		call = ((struct pt_regs___arm64 *)registers)->syscallno;
		*first = ((struct pt_regs___arm64 *)registers)->orig_x0;
		*third = ((struct pt_regs___arm64 *)registers)->regs[2];
		other_numbers = !!(((struct pt_regs___arm64 *)registers)->pstate & PSR_MODE32_BIT);
	}
	if (call < 0)
		return NO_CALL;
	return other_numbers ? OTHER_NUMBERS : call;
}

/* Wait of a sleeping thread. The address is that of struct slot. */
static __always_inline enum state wait_of(struct slot *slot, struct task_struct *task,
					  unsigned int state, __u64 *address, int casts)
{
	int disk = BPF_CORE_READ_BITFIELD(task, in_iowait);
	unsigned long first, third;
	__u32 number;
	__u64 *kind;
	long call;

	if (state & (TASK_STOPPED | TASK_TRACED) || is_frozen(task, state))
		return STOPPED;
	call = call_of(task, &first, &third);
	if (call == NO_REGISTERS)
		return OTHER;
	if (call == NO_CALL)
		return disk ? PAGE_FAULT_DISK : PAGE_FAULT;
	if (call == OTHER_NUMBERS)
		return OTHER_CALL;
	number = call;
	kind = bpf_map_lookup_elem(&calls, &number);
	if (kind && *kind == RESTARTS && slot->waits_in) {
		number = slot->waits_in;
		kind = bpf_map_lookup_elem(&calls, &number);
	}
	slot->waits_in = number;
	if (!kind || !*kind || *kind == RESTARTS) {
		*address = CALL_ADDRESS | number;
		return OTHER_CALL;
	}
	if (*kind == FUTEXES) {
		*address = CALL_ADDRESS | number;
		return disk ? PAGE_FAULT_DISK : FUTEX;
	}
	if (*kind == SPLICES)
		return splice_wait(task, first, third, disk);
	if (*kind >= READS)
		return by_file(*kind, file_mode(task, first, casts), disk);
	/* Memory that the call touches is read from the disk. */
	if (disk && *kind != IO_URING)
		return PAGE_FAULT_DISK;
	if (*kind == FUTEX)
		*address = first;
	return *kind;
}
