// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that ran on a CPU while others were queued there, by the last switches of each CPU.
 * waits.bpf.c includes this file.
 */

/* A process, distinguished from those that get its id later: the id, and when it began, not 0. The key
 * of the idle task is 0. */
static __always_inline __u32 process_key(struct task_struct *task)
{
	__u32 tgid = task->tgid, birth;

	if (!tgid)
		return 0;
	birth = (task->group_leader->start_boottime >> BIRTH_BITS) & (BIRTHS - 1);
	return tgid | (birth ? birth : 1) << PID_BITS;
}

/* A process with the program that it executes; a key of `process_key`, other than 0. */
static __always_inline __u32 program_key(struct task_struct *task, __u32 process)
{
	return process ^ (__u32)task->group_leader->self_exec_id * 0x9e3779b1;
}

/* A process that is not the slot's: the collector cannot ask for its name when it has ended. */
static __noinline int note_name(struct slot *slot, struct task_struct *task)
{
	struct name name = {
		.kernel = !!(task->flags & PF_KTHREAD),
		.start_ns = task->group_leader->start_boottime,
	};
	__u32 key = process_key(task);

	slot->noted = program_key(task, key);
	bpf_probe_read_kernel(name.comm, sizeof name.comm, task->group_leader->comm);
	bpf_map_update_elem(&names, &key, &name, BPF_ANY);
	return 0;
}

static __always_inline __u64 who_is(struct task_struct *task)
{
	return (__u64)process_key(task) << 1 | !!(task->flags & PF_KTHREAD);
}

/* The run queue of the CPU on which a thread runs; 0: where it stands is not known. */
static __always_inline struct rq *queue_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return 0;
	return task->se.cfs_rq->rq;
}

static __always_inline struct cpu *this_cpu(void)
{
	__u32 key = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &key);
}

/* Remember a switch of this CPU. */
static __always_inline void note_switch(struct cpu *cpu, struct task_struct *from, __u64 clock)
{
	struct one_switch *one = &cpu->recent[cpu->next++ & (RECENT - 1)];

	one->clock = clock;
	one->who = who_is(from);
}

/* How far is CLOCK_MONOTONIC ahead of the clock of this CPU's run queue, which was read before it? What
 * took the CPU in between, a hypervisor for example, is no distance. */
static __noinline __u64 check_clock(struct cpu *cpu, __u64 clock)
{
	__u64 ahead = bpf_ktime_get_ns() - clock, grown = ahead - cpu->ahead;
	__u64 drift = (clock - cpu->checked) >> DRIFT_BITS;

	if (cpu->checked && grown < JUMP_NS && grown > drift)
		ahead = cpu->ahead + drift;
	cpu->ahead = ahead;
	cpu->checked = clock;
	return ahead;
}

static __noinline int count_taker_elsewhere(struct slot *slot, __u64 who, __u64 ns)
{
	struct taker_key key = {slot->index, slot->generation, who};
	struct control *shared = shared_counts();
	__u64 *sum;

	if (!shared)
		return 0;
	sum = bpf_map_lookup_elem(&takers, &key);
	if (sum)
		*sum += ns;
	else if (bpf_map_update_elem(&takers, &key, &ns, BPF_NOEXIST))
		__sync_fetch_and_add(&shared->lost_takers, 1);
	else
		__sync_fetch_and_add(&shared->more_takers, 1);
	return 0;
}

static __always_inline void count_taker(struct slot *slot, struct detail *detail, __u64 who, __u64 ns)
{
	__u32 at = (who >> 1) & (TAKERS - 1);
	struct taker *taker = &detail->takers[at];

	if (taker->who != who) {
		if (taker->ns) {
			taker = &detail->takers[at ^ 1];
			if (taker->ns && taker->who != who) {
				count_taker_elsewhere(slot, who, ns);
				return;
			}
		}
		taker->who = who;
	}
	taker->ns += ns;
}

struct walk {
	struct slot *slot;
	struct detail *detail;
	struct cpu *cpu;
	__u64 at;
	__u64 begin;
	__u64 until;
};

/* Count the thread that left this CPU at one switch and came at the one before; 1 ends the walk. */
static long count_earlier_taker(__u32 index, struct walk *walk)
{
	struct one_switch *one = &walk->cpu->recent[(walk->at - index) & (RECENT - 1)];
	__u64 from = walk->cpu->recent[(walk->at - index - 1) & (RECENT - 1)].clock;

	if (!from || from > walk->until)
		return 1; /* it has not been in use for so long */
	if (from < walk->begin)
		from = walk->begin;
	if (walk->until > from)
		count_taker(walk->slot, walk->detail, one->who, walk->until - from);
	walk->until = from;
	return from == walk->begin;
}

/* Count the threads that ran on a CPU before one of its switches, since a moment of its clock. */
static __noinline int count_earlier_takers(struct slot *slot, struct cpu *cpu, __u64 begin, __u64 at)
{
	__u32 index = slot->index;
	struct walk walk = {
		.slot = slot,
		.detail = bpf_map_lookup_elem(&details, &index),
		.cpu = cpu,
		.at = at,
		.begin = begin,
	};

	if (!walk.detail)
		return 0;
	walk.until = cpu->recent[walk.at & (RECENT - 1)].clock;
	bpf_loop(RECENT - 2, count_earlier_taker, &walk, 0);
	return 0;
}

/* The thread was queued for so long, up to the last switch of this CPU: who ran meanwhile? */
static __always_inline void count_takers(struct slot *slot, struct cpu *cpu, __u64 queued)
{
	__u32 index = slot->index, at = cpu->next - 1;
	struct one_switch *last = &cpu->recent[at & (RECENT - 1)];
	__u64 before = cpu->recent[(at - 1) & (RECENT - 1)].clock, begin = last->clock - queued;
	struct detail *detail = bpf_map_lookup_elem(&details, &index);

	if (!detail || !before)
		return;
	count_taker(slot, detail, last->who, last->clock - (before > begin ? before : begin));
	if (before > begin)
		count_earlier_takers(slot, cpu, begin, cpu->next - 2);
}

/* The thread leaves the run queue of a CPU for another one's, with the first one's lock held: who ran
 * there since a moment of its clock? */
static __always_inline void count_takers_before_move(struct slot *slot, struct rq *rq, __u64 queued)
{
	__u32 key = rq->cpu, index = slot->index;
	struct cpu *cpu = bpf_map_lookup_elem(&cpus, &key);
	struct detail *detail = bpf_map_lookup_elem(&details, &index);
	struct task_struct *runs = rq->curr;
	__u64 clock = rq->clock, begin = clock - queued, came;
	__u32 other;

	if (!cpu || !detail || !runs)
		return;
	other = process_key(runs);
	came = cpu->recent[(cpu->next - 1) & (RECENT - 1)].clock;
	if (!came || came > clock)
		return;
	if (other && pid_of(other) != slot->tgid && program_key(runs, other) != slot->noted)
		note_name(slot, runs);
	count_taker(slot, detail, who_is(runs), clock - (came > begin ? came : begin));
	if (came > begin)
		count_earlier_takers(slot, cpu, begin, cpu->next - 1);
}
