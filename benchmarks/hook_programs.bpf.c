// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of increasing content on the hooks of the network accounting, for benchmarks/netacct.py:
 * what an empty one costs is what the kernel takes to enter and leave a program at all.
 *
 * empty: nothing. socket: looks at what moved and at the socket's family. thread: also asks which
 * thread runs, a helper's call. storage: counts in a task storage that a helper looks up, the
 * obvious way to count. tally: counts the calls of each process, those that fail too.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define TALLIES 65536
#define KERNEL __attribute__((preserve_access_index))

struct task_struct {
	int tgid;
} KERNEL;

struct sock_common {
	unsigned short skc_family;
} KERNEL;

struct sock {
	struct sock_common __sk_common;
} KERNEL;

struct counts {
	__u64 bytes[2];
	__u64 calls[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TALLIES);
	__type(key, __u32);
	__type(value, __u64);
} tallies SEC(".maps"); /* by the last bits of the process id */

static __always_inline int is_internet(struct sock *sk, int moved)
{
	__u16 family;

	if (moved <= 0)
		return 0;
	family = sk->__sk_common.skc_family;
	return family == 2 || family == 10;
}

static __always_inline int find_process(struct sock *sk, int moved)
{
	return is_internet(sk, moved) ? bpf_get_current_task_btf()->tgid : 0;
}

static __always_inline int count(struct sock *sk, int moved, int writes)
{
	struct counts *own;

	if (!is_internet(sk, moved))
		return 0;
	own = bpf_task_storage_get(&counts, bpf_get_current_task_btf(), 0,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (own) {
		own->bytes[writes] += moved;
		own->calls[writes]++;
	}
	return 0;
}

static __always_inline int tally(void)
{
	__u32 key = bpf_get_current_task_btf()->tgid & (TALLIES - 1);
	__u64 *calls = bpf_map_lookup_elem(&tallies, &key);

	if (calls)
		__sync_fetch_and_add(calls, 1);
	return 0;
}

#define PAIR(name, sent, received)                                                                 \
	SEC("tp_btf/sock_send_length")                                                             \
	int BPF_PROG(name##_send, struct sock *sk, int ret, int flags)                             \
	{                                                                                          \
		return sent;                                                                       \
	}                                                                                          \
	SEC("tp_btf/sock_recv_length")                                                             \
	int BPF_PROG(name##_receive, struct sock *sk, int ret, int flags)                          \
	{                                                                                          \
		return received;                                                                   \
	}

PAIR(empty, 0, 0)
PAIR(socket, is_internet(sk, ret), is_internet(sk, ret))
PAIR(thread, find_process(sk, ret), find_process(sk, ret))
PAIR(tally, tally(), tally())
PAIR(storage, count(sk, ret, 1), count(sk, ret, 0))

/* The other hooks, which every state but the bare one has. */

SEC("fexit/tcp_splice_read")
int BPF_PROG(empty_splice)
{
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(empty_exit)
{
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(empty_exec)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
