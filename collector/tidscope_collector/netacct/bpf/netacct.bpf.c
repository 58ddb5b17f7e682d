// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the payload that each thread of an attached process moves over IPv4 and IPv6 sockets.
 *
 * Two typed tracepoints fire at the end of every send and receive of every socket, whatever system
 * call it came from (net/socket.c, since Linux 6.3): they tell the socket, what the call returned
 * and its flags. A thread's numbers stand in a slot of an array that the collector maps into its
 * memory, and only the thread itself writes there. Which slot it has stands in its task storage,
 * which dies with the thread: a thread that gets a used id begins with a slot of its own, at zero.
 *
 * The way that every socket call takes is plain look-ups in arrays; the current thread is all that a
 * helper is asked for. `watched` has the last bits of the ids of processes that are attached to, so
 * that the others' calls touch no slot: its owner writes there at every call. `hints` has the slot
 * that a thread with such an id used last, believed only if id and start are the thread's.
 *
 * `make bpf` compiles this. The layout of struct slot and struct control is mirrored in ../slots.py
 * and compared with this object's BTF by a test.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SLOTS 65536
#define TARGETS 256
#define HINTS 65536
#define WATCHED 8192

#define AF_INET 2
#define AF_INET6 10
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000 /* returns what was sent, with a report: nothing was received */

/* Of the kernel's structs only what is used here; the loader moves the offsets to this kernel's. */
#define KERNEL __attribute__((preserve_access_index))

struct task_struct {
	int pid;
	int tgid;
	__u64 start_time;
} KERNEL;

struct sock_common {
	unsigned short skc_family;
} KERNEL;

struct sock {
	struct sock_common __sk_common;
} KERNEL;

struct socket {
	struct sock *sk;
} KERNEL;

/* One cache line. In use while tgid is not 0; the collector gives it back. */
struct slot {
	__u32 tgid;
	__u32 tid;
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 exit_ns;  /* CLOCK_MONOTONIC; 0 while it lives */
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 read_calls;
	__u64 write_calls;
	__u64 generation; /* raised by the collector when it gives the slot back */
};

struct control {
	__u32 used; /* slots below this one have been used */
	__u32 pad;
	__u64 uncounted_calls; /* calls of attached threads that found no slot */
	__u64 uncounted_bytes;
	__u64 changes; /* raised after a thread got a slot, ended, or changed its id */
};

/* Which slot a thread has; of no worth if the slot is of another generation by now. */
struct claim {
	__u64 generation;
	__u32 index;
	__u32 held;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

/* By the last bits of a thread id: a slot that may be the thread's. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HINTS);
	__type(key, __u32);
	__type(value, __u32);
} hints SEC(".maps");

/* By the last bits of a process id: whether the process may be one of `targets`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WATCHED);
	__type(key, __u32);
	__type(value, __u64);
} watched SEC(".maps");

/* Slots that were freed. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, SLOTS);
	__type(value, __u32);
} vacant SEC(".maps");

/* Process ids, in the initial PID namespace, that are attached to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct claim);
} claims SEC(".maps");

static __always_inline struct slot *held_slot(struct claim *claim)
{
	struct slot *slot;

	if (!claim || !claim->held)
		return 0;
	slot = bpf_map_lookup_elem(&slots, &claim->index);
	if (!slot || slot->generation != claim->generation || !slot->tgid)
		return 0;
	return slot;
}

static __always_inline struct slot *claim_slot(struct task_struct *task, __u32 tgid,
					       struct claim *claim, struct control *shared)
{
	struct slot *slot;
	__u32 index;

	if (bpf_map_pop_elem(&vacant, &index)) {
		if (shared->used >= SLOTS)
			return 0;
		index = __sync_fetch_and_add(&shared->used, 1);
	}
	slot = bpf_map_lookup_elem(&slots, &index);
	if (!slot)
		return 0;
	claim->index = index;
	claim->generation = slot->generation;
	claim->held = 1;
	slot->tid = task->pid;
	slot->start_ns = task->start_time;
	slot->exit_ns = 0;
	slot->read_bytes = 0;
	slot->write_bytes = 0;
	slot->read_calls = 0;
	slot->write_calls = 0;
	/* An exchange is a full barrier: whoever sees the process id sees the rest as well. */
	__sync_lock_test_and_set(&slot->tgid, tgid);
	__sync_fetch_and_add(&shared->changes, 1);
	return slot;
}

static __always_inline struct slot *hinted_slot(struct task_struct *task)
{
	__u32 tid = task->pid, key = tid & (HINTS - 1);
	__u32 *index = bpf_map_lookup_elem(&hints, &key);
	struct slot *slot;

	if (!index)
		return 0;
	slot = bpf_map_lookup_elem(&slots, index);
	if (!slot || slot->tid != tid || slot->start_ns != task->start_time || slot->exit_ns)
		return 0;
	return slot->tgid ? slot : 0;
}

/* The slot of a thread that is not where the hint says, or has none yet. */
static __noinline struct slot *find_slot(struct task_struct *task, __u32 tgid, int moved)
{
	__u32 key = task->pid & (HINTS - 1), zero = 0;
	struct control *shared;
	struct claim *claim;
	struct slot *slot;

	if (!bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	claim = bpf_task_storage_get(&claims, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	slot = held_slot(claim);
	if (!slot) {
		shared = bpf_map_lookup_elem(&control, &zero);
		if (!shared)
			return 0;
		slot = claim ? claim_slot(task, tgid, claim, shared) : 0;
		if (!slot) {
			__sync_fetch_and_add(&shared->uncounted_calls, 1);
			__sync_fetch_and_add(&shared->uncounted_bytes, moved);
			return 0;
		}
	}
	bpf_map_update_elem(&hints, &key, &claim->index, 0);
	return slot;
}

static __always_inline void count(struct sock *sk, int moved, int writes)
{
	struct task_struct *task;
	struct slot *slot;
	__u32 tgid, key;
	__u64 *bits;
	__u16 family;

	if (moved <= 0)
		return;
	family = sk->__sk_common.skc_family;
	if (family != AF_INET && family != AF_INET6)
		return;
	task = bpf_get_current_task_btf();
	tgid = task->tgid;
	key = tgid & (WATCHED - 1);
	bits = bpf_map_lookup_elem(&watched, &key);
	if (!bits || !*bits)
		return;
	slot = hinted_slot(task);
	if (!slot)
		slot = find_slot(task, tgid, moved);
	if (!slot)
		return;
	if (writes) {
		slot->write_bytes += moved;
		slot->write_calls++;
	} else {
		slot->read_bytes += moved;
		slot->read_calls++;
	}
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(count_send, struct sock *sk, int ret, int flags)
{
	count(sk, ret, 1);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(count_receive, struct sock *sk, int ret, int flags)
{
	if (!(flags & (MSG_PEEK | MSG_ERRQUEUE)))
		count(sk, ret, 0);
	return 0;
}

/* splice() out of a TCP socket does not pass the tracepoint. Left out where it cannot be loaded. */
SEC("fexit/tcp_splice_read")
int BPF_PROG(count_splice, struct socket *sock, void *position, void *pipe, unsigned long length,
	     unsigned int flags, long ret)
{
	count(sock->sk, ret, 0);
	return 0;
}

static __always_inline void note_change(void)
{
	__u32 zero = 0;
	struct control *shared = bpf_map_lookup_elem(&control, &zero);

	if (shared)
		__sync_fetch_and_add(&shared->changes, 1);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(mark_exit, struct task_struct *task)
{
	struct slot *slot = held_slot(bpf_task_storage_get(&claims, task, 0, 0));

	if (slot) {
		__sync_lock_test_and_set(&slot->exit_ns, bpf_ktime_get_ns());
		note_change();
	}
	return 0;
}

/* A thread that executes a program takes the id and the start of its process' first thread. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task)
{
	struct slot *slot = held_slot(bpf_task_storage_get(&claims, task, 0, 0));

	if (slot) {
		slot->start_ns = task->start_time;
		__sync_lock_test_and_set(&slot->tid, task->pid);
		note_change();
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
