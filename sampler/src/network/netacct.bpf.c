// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the payload that each thread of an attached process moves over IPv4 and IPv6 sockets.
 *
 * Two typed tracepoints fire at the end of every send and receive of every socket, whatever system
 * call it came from (net/socket.c, since Linux 6.3): they tell the socket, what the call returned
 * and its flags. A thread's numbers stand in a slot (../../ebpf/thread_slots.bpf.h), and only the
 * thread itself writes there. The current thread is all that a helper is asked for, and the calls of
 * processes that are not attached to touch no slot: its owner writes there at every call.
 *
 * `make bpf` compiles this. The layout of struct slot and struct control is mirrored in ../slots.py
 * and compared with this object's BTF by a test.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SLOTS 65536
#define UNCOUNTED 4096 /* threads that read by splice() where that cannot be counted */

#define AF_INET 2
#define AF_INET6 10
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000 /* returns what was sent, with a report: nothing was received */

/* Members of the kernel's structs that this program reads; the loader moves offsets to this kernel's. */
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

struct pt_regs___x86 {
	unsigned long orig_ax;
} KERNEL;

struct pt_regs___arm64 {
	__s32 syscallno;
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

#include "../slots/thread_slots.bpf.h"

/* The slot of a thread that is not where the hint says, or has none yet. */
static __noinline struct slot *find_slot(struct task_struct *task, __u32 tgid, int moved)
{
	__u32 key = task->pid & (HINTS - 1), zero = 0, index = 0;
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
		slot = claim ? free_slot(shared, &index) : 0;
		if (!slot) {
			__sync_fetch_and_add(&shared->uncounted_calls, 1);
			__sync_fetch_and_add(&shared->uncounted_bytes, moved);
			return 0;
		}
		hold(slot, index, claim, task, tgid);
		__sync_fetch_and_add(&shared->changes, 1);
	}
	bpf_map_update_elem(&hints, &key, &claim->index, 0);
	return slot;
}

static __always_inline void count(struct sock *sk, int moved, int writes)
{
	struct task_struct *task;
	struct slot *slot;
	__u16 family;

	if (moved <= 0)
		return;
	family = sk->__sk_common.skc_family;
	if (family != AF_INET && family != AF_INET6)
		return;
	task = bpf_get_current_task_btf();
	if (!may_be_watched(task))
		return;
	slot = hinted_slot(task);
	if (!slot)
		slot = find_slot(task, task->tgid, moved);
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

/* Threads that read a TCP socket by splice() or sendfile(), if that program cannot be loaded.
 * The tracepoint is in what every read of a TCP socket calls before it returns (net/ipv4/tcp.c). The
 * current system call says which kind of read it is. */
struct uncounted {
	__u32 tgid;
	__u32 tid;
	__u64 start_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, UNCOUNTED);
	__type(key, struct uncounted);
	__type(value, __u64);
} uncounted SEC(".maps");

/* True in splice() or sendfile(), by the call's number on x86-64 and in the generic table. */
static __always_inline int is_splicing(struct task_struct *task)
{
	void *registers = (void *)bpf_task_pt_regs(task);
	long call;

	if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax)) {
		call = (long)((struct pt_regs___x86 *)registers)->orig_ax;
		return call == 275 || call == 40;
	}
	call = ((struct pt_regs___arm64 *)registers)->syscallno;
	return call == 76 || call == 71;
}

SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(note_splice, struct sock *sk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct uncounted key = {};
	__u64 once = 1, *known;
	__u32 tgid;

	if (!may_be_watched(task) || !is_splicing(task))
		return 0;
	tgid = task->tgid;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	key.tgid = tgid;
	key.tid = task->pid;
	key.start_ns = task->start_time;
	known = bpf_map_lookup_elem(&uncounted, &key);
	if (known)
		__sync_fetch_and_add(known, 1);
	else
		bpf_map_update_elem(&uncounted, &key, &once, 0);
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

SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task)
{
	if (follow(task))
		note_change();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
