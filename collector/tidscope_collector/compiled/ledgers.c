// SPDX-License-Identifier: Apache-2.0
/* Ledgers of threads, from the slots that the eBPF program writes into their columns, and the columns of
 * another reader beside them. The reference is ../waits/reading.py, slots.py and joined_reader.py.
 */
#include "common.h"

enum { ON_CPU = 1, PREEMPTED = 2, WOKEN = 3, FIRST_WAIT = 4, STATE_BITS = 5, MAX_STATES = 32, TRIES = 100 };

/* What a slot says that is not being written to; whether it could be read. */
static int read_slot(const struct ledgers *l, const __u8 *slot, __u64 *mark, __s64 *woken, __s64 *arrived,
		     __u64 *ns)
{
	for (int tries = 0; tries < TRIES; tries++) {
		__u64 sum = 0;

		*mark = *(volatile const __u64 *)(slot + l->mark_at);
		*woken = *(volatile const __s64 *)(slot + l->woken_at);
		*arrived = *(volatile const __s64 *)(slot + l->arrived_at);
		for (__u64 s = 0; s < l->states; s++) {
			ns[s] = *(volatile const __u64 *)(slot + l->ns_at + 8 * s);
			sum += ns[s];
		}
		if (*(volatile const __u64 *)(slot + l->mark_at) == *mark &&
		    sum == (*mark >> STATE_BITS) - *(volatile const __u64 *)(slot + l->began_at))
			return 1;
	}
	return 0;
}

/* Adds what is over of a round under way to a ledger; the state since then, and since when. */
static __u64 settle(__u64 mark, __s64 woken, __s64 arrived, __u64 *ns, __s64 *since)
{
	__u64 state = mark & ((1 << STATE_BITS) - 1), queue = state == PREEMPTED ? PREEMPTED : WOKEN;
	__s64 left = (__s64)(mark >> STATE_BITS), queued = left;
	int runs = arrived >= left && state > ON_CPU, awake = 0;

	if (state >= FIRST_WAIT) {
		awake = runs || woken >= left;
		queued = runs ? arrived : woken;
		if (runs && woken >= left && woken < arrived)
			queued = woken;
	}
	if (awake)
		ns[state] += (__u64)(queued - left);
	if (runs)
		ns[queue] += (__u64)(arrived - queued);
	*since = runs ? arrived : awake ? queued : left;
	return runs ? ON_CPU : awake ? queue : state;
}

int take_ledgers(const struct ledgers *l)
{
	const struct rows *r = l ? l->rows : 0;

	for (__u64 row = 0; r && row < r->count; row++) {
		const __u8 *slot = l->slots + l->stride * (__u64)l->slot_of[row];
		__u64 *known = l->known + 3 * row, ns[MAX_STATES], mark, state;
		__s64 woken, arrived, since;

		if (l->slot_of[row] < 0)
			continue;
		if (half(slot + l->tgid_at) != l->tgid || half(slot + l->tid_at) != r->tids[row])
			continue; /* it ended, and the slot was freed */
		if (known[0] == *(volatile const __u64 *)(slot + l->mark_at) &&
		    known[1] == *(volatile const __u64 *)(slot + l->woken_at) &&
		    known[2] == *(volatile const __u64 *)(slot + l->arrived_at))
			continue;
		if (!read_slot(l, slot, &mark, &woken, &arrived, ns))
			return 0;
		state = settle(mark, woken, arrived, ns, &since);
		if (!state)
			continue; /* it ended: its exit record comes */
		for (__u64 s = 1; s < l->states; s++)
			set(r, row, l->first_column + s - 1, ns[s]);
		since -= (__s64)l->attach_ns;
		set(r, row, l->first_column + l->states - 1, state);
		set(r, row, l->first_column + l->states, since > 0 ? (__u64)since : 0);
		known[0] = mark;
		known[1] = (__u64)woken;
		known[2] = (__u64)arrived;
	}
	return 1;
}

void join_rows(const struct ledgers *l)
{
	const struct rows *base = l ? l->base : 0;

	for (__u64 row = 0; base && row < base->count; row++) {
		if (!base->changed[row])
			continue;
		base->changed[row] = 0;
		for (__u64 column = 0; column < base->width; column++)
			set(l->rows, row, column, *value_at(base, row, column));
		l->rows->changed[row] = 1;
	}
}
