// SPDX-License-Identifier: Apache-2.0
/* Network counters of threads, from the slots that the eBPF program writes into their columns. */
#include "common.h"

int network_complete(const struct network *n)
{
	return !n || *(volatile __u64 *)n->uncounted == n->expected;
}

/* The row of the thread that a slot is of; the number of rows if it is of none of them. */
static __u64 row_of(const struct network *n, const struct rows *r, __u64 slot, __u32 tid)
{
	__u64 row = n->rows[slot];

	if (row < r->count && r->tids[row] == tid)
		return row;
	for (row = 0; row < r->count && r->tids[row] != tid; row++)
		;
	n->rows[slot] = (__u32)row;
	return row;
}

int take_network(const struct network *n, const struct rows *r, __s64 listed, int commit)
{
	__u64 used = n ? *(volatile __u32 *)n->used : 0;

	if (n && used > n->most)
		used = n->most;
	for (__u64 i = 0; i < used; i++) {
		const __u8 *slot = n->slots + i * n->stride;
		__u64 row;

		if (half(slot + n->tgid_at) != n->tgid || *(const __s64 *)(slot + n->exit_at) ||
		    *(const __s64 *)(slot + n->start_at) > listed)
			continue;
		row = row_of(n, r, i, half(slot + n->tid_at));
		if (row == r->count || r->gone[row])
			continue;
		for (__u64 f = 0; f < r->width - n->first_column; f++) {
			__u64 value = *(volatile const __u64 *)(slot + n->counters_at + 8 * f);
			__u64 known = *value_at(r, row, n->first_column + f);

			if (value > known && commit)
				set(r, row, n->first_column + f, value);
			else if (value < known)
				return 0;
		}
	}
	return 1;
}
