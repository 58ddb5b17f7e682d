/* SPDX-License-Identifier: Apache-2.0
 *
 * Usual ticks one after the other, in one call: wait for each, take it, send its frame, until Python is
 * wanted. What wakes Python up costs more than the tick: of its code nothing is in the caches by then.
 */
#include "common.h"

enum { NOW = 0x4040 /* MSG_DONTWAIT, MSG_NOSIGNAL */, POLLIN = 1, HEAD_BYTES = 14 };
enum { WAIT = 128, WAKE = 129 }; /* futex(2), within a process */

/* A frame that was made. */
struct kept {
	__u64 at, size, sample_us, started_ns, sample_cpu_ns;
	__u64 sent_ns; /* CLOCK_MONOTONIC; 0: the connection did not take it */
};

/* A connection that two threads write to. */
struct link {
	__u64 lock;	  /* 0: nobody writes; 1: somebody does; 2: and somebody waits for it */
	__u64 socket;	  /* -1: frames go another way */
	__u64 rest_bytes; /* at the end of the message, not written; the lock is held then */
};

struct round {
	struct tick *tick;
	struct link *link;
	__u64 wake; /* a descriptor that is readable when Python is wanted */
	__u64 due_ns, period_ns, until_ns;
	__u64 news_due_ns; /* until then births, ends and names wait */
	__u64 first_seq;
	struct kept *kept;
	__u64 most; /* frames that there is room for */
	__u8 *frames;
	__u64 room, frame_bytes; /* what a frame takes at most */
	__u8 *message;		 /* room for one of them as it is sent */
	/* what came of it; how many frames, each counted when it is complete */
	__u64 taken, message_bytes;
};

/* Takes the lock of a connection. */
__attribute__((visibility("default"))) void lock_link(struct link *l)
{
	__u32 *word = (__u32 *)&l->lock, was = 0;

	if (__atomic_compare_exchange_n(word, &was, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		call(__NR_futex, (long)word, WAIT, 2, 0, 0, 0);
}

__attribute__((visibility("default"))) void unlock_link(struct link *l)
{
	__u32 *word = (__u32 *)&l->lock;

	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		call(__NR_futex, (long)word, WAKE, 1, 0, 0, 0);
}

/* Makes a client's binary message of a frame (RFC 6455, 5.2); its size, or 0 without a key. */
static __u64 write_message(__u8 *out, const __u8 *frame, __u64 size)
{
	__u64 at = 2, key, whole = size / 8;
	__u32 half_key;
	int bits = 0;

	if (call(__NR_getrandom, (long)&half_key, sizeof half_key, 0, 0, 0, 0) != sizeof half_key)
		return 0;
	key = (__u64)half_key << 32 | half_key;
	out[0] = 0x82;
	out[1] = 0x80 | (__u8)size;
	if (size >= 126) {
		out[1] = 0x80 | (size >> 16 ? 127 : 126);
		bits = size >> 16 ? 64 : 16;
	}
	while (bits) {
		bits -= 8;
		out[at++] = (__u8)(size >> bits);
	}
	for (int i = 0; i < 4; i++)
		out[at++] = ((const __u8 *)&half_key)[i];
	for (__u64 i = 0; i < whole; i++)
		((struct { __u64 word; } __attribute__((packed)) *)(out + at))[i].word =
			((const __u64 *)frame)[i] ^ key;
	for (__u64 i = 8 * whole; i < size; i++)
		out[at + i] = frame[i] ^ ((const __u8 *)&key)[i % 8];
	return at + size;
}

/* Sends a frame; when it was given to the connection, which took it or a part of it, or 0. */
static __u64 send_frame(struct round *r, const __u8 *frame, __u64 size)
{
	struct link *l = r->link;
	long sent = -1; /* if nothing is */
	__u64 now_ns;

	r->message_bytes = write_message(r->message, frame, size);
	lock_link(l);
	now_ns = (__u64)clock_ns(MONOTONIC);
	if (r->message_bytes && l->socket != (__u64)-1)
		sent = call(__NR_sendto, (long)l->socket, (long)r->message, (long)r->message_bytes, NOW,
			    0, 0);
	if (sent >= 0 && (__u64)sent < r->message_bytes) {
		l->rest_bytes = r->message_bytes - (__u64)sent;
		return now_ns;
	}
	unlock_link(l);
	return sent < 0 ? 0 : now_ns;
}

/* Waits until a moment; whether Python is wanted before. */
static int wait_until(const struct round *r, __s64 moment)
{
	struct pollfd wake = {(int)r->wake, POLLIN, 0};
	struct { long s, ns; } rest;
	__s64 left;

	do {
		left = moment - clock_ns(MONOTONIC);
		if (left < 0)
			left = 0;
		rest.s = left / 1000000000;
		rest.ns = left % 1000000000;
		if (call(__NR_ppoll, (long)&wake, 1, (long)&rest, 0, 0, 0) > 0)
			return 1;
	} while (clock_ns(MONOTONIC) < moment);
	return 0;
}

/* Takes ticks; WANTED if Python is wanted before the next one, else what that one came to. */
__attribute__((visibility("default"))) long usual_ticks(struct round *r)
{
	struct tick *t = r->tick;
	struct frame *f = t->frame;
	__u64 used = 0;

	for (r->taken = 0; r->taken < r->most; r->due_ns += r->period_ns) {
		struct kept *kept = &r->kept[r->taken];
		long result;
		__u64 now;

		/* If Python is wanted before the next tick, it waits itself: to wake up twice costs more. */
		if (r->due_ns >= r->until_ns || wait_until(r, (__s64)r->due_ns))
			return WANTED;
		now = (__u64)clock_ns(MONOTONIC);
		t->waits = now < r->news_due_ns;
		if (now >= r->until_ns || now - r->due_ns >= r->period_ns ||
		    r->room - used < r->frame_bytes || (t->news && !t->waits))
			return WANTED;
		f->out = r->frames + used;
		f->room = r->room - used;
		f->seq = r->first_seq + r->taken;
		f->started_ns = now;
		f->late_us = (now - r->due_ns) / 1000;
		if (r->taken)
			next_question(t->plan);
		result = usual_tick(t);
		if (result != USUAL)
			return result;
		kept->at = used;
		kept->size = f->size;
		kept->sample_us = f->sample_us;
		kept->started_ns = now;
		kept->sample_cpu_ns = t->sample_cpu_ns;
		kept->sent_ns = send_frame(r, f->out, f->size);
		used += (f->size + 7) / 8 * 8;
		__atomic_store_n(&r->taken, r->taken + 1, __ATOMIC_RELEASE);
		if (!kept->sent_ns || r->link->rest_bytes) {
			r->due_ns += r->period_ns;
			return WANTED;
		}
	}
	return WANTED;
}
