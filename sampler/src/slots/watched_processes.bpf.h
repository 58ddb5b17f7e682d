// SPDX-License-Identifier: GPL-2.0-only
/*
 * The maps of processes that are attached to. The programs that count for threads own them
 * (thread_slots.bpf.h); the one that follows groups and the one that takes stacks are lent them.
 *
 * Processes are in `targets`, by their ids in the initial PID namespace. `watched` says by the last
 * bits of an id whether the process may be there: a plain look-up in an array, without a call.
 */
#define TARGETS 32768
#define WATCHED 8192

/* How many processes became one of `targets`, and how many are it no more. Both wrap around. The
 * first is raised by programs on any CPU, the second belongs to the collector. */
struct watch {
	__u32 come;
	__u32 gone;
};

#define PROCESS_MAPS(targets, watched)                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, TARGETS);                                                      \
		__type(key, __u32);                                                                \
		__type(value, __u32);                                                              \
	} targets SEC(".maps");                                                                    \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, WATCHED);                                                      \
		__type(key, __u32);                                                                \
		__type(value, struct watch);                                                       \
	} watched SEC(".maps")
