/* SPDX-License-Identifier: Apache-2.0
 *
 * A delta frame of the rows that changed: a header that was prepared, in which some numbers are
 * written, and a record batch. The reference is RowEncoder of tidscope_wire.
 */
#include "common.h"

enum { MAX_COLUMNS = 256, NUMBER_BYTES = 20 };

static void copy(__u8 *to, const __u8 *from, __u64 bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static void fill(__u8 *to, __u8 value, __u64 bytes)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

/* Writes a number that ends at a place; where it begins. */
static __u8 *digits(__u8 *end, __u64 value)
{
	do
		*--end = (__u8)('0' + value % 10);
	while (value /= 10);
	return end;
}

static void number(__u8 *header, __u64 at, __u64 value)
{
	fill(header + at, ' ', NUMBER_BYTES);
	digits(header + at + NUMBER_BYTES, value);
}

static int is_absent(const struct rows *r, __u64 row, __u64 column)
{
	return r->absent && r->absent[row * r->absent_row_step + column * r->absent_column_step];
}

/* Whether a column is not 0, or absent somewhere, in the chosen rows. */
static int is_given(const struct frame *f, __u64 column, __u64 rows)
{
	const struct rows *r = f->rows;

	for (__u64 i = 0; i < rows; i++)
		if (*value_at(r, f->chosen[i], column) || is_absent(r, f->chosen[i], column))
			return 1;
	return 0;
}

static __u64 count_absent(const struct frame *f, __u64 column, __u64 rows)
{
	__u64 count = 0;

	if (f->rows->absent)
		for (__u64 i = 0; i < rows; i++)
			count += is_absent(f->rows, f->chosen[i], column) != 0;
	return count;
}

static void write_columns(const struct frame *f, const __u8 *columns, __u64 count)
{
	__u8 *at = f->out + f->columns_at;

	fill(at, ' ', f->columns_bytes);
	if (count == f->rows->width) {
		copy(at, (const __u8 *)"null", 4);
		return;
	}
	*at++ = '[';
	for (__u64 i = 0; i < count; i++) {
		__u8 text[NUMBER_BYTES], *end = text + NUMBER_BYTES, *from = digits(end, columns[i]);

		if (i)
			*at++ = ',';
		while (from < end)
			*at++ = *from++;
	}
	*at = ']';
}

/* Writes the batch behind the header; its size, or 0 without room. */
static __u64 write_batch(const struct frame *f, const __u8 *columns, __u64 count, __u64 rows)
{
	const struct metadata *m = &f->metadata[count];
	const struct rows *r = f->rows;
	__u64 bitmap = (rows + 63) / 64 * 8, values_at = (4 * rows + 7) / 8 * 8;
	__u64 size = m->size + values_at + count * (8 * rows + bitmap), at = values_at;
	__u8 *message = f->out + f->header_bytes, *body = message + m->size;
	__u64 *nodes = (__u64 *)(message + m->nodes_at);
	__u64 *buffers = (__u64 *)(message + m->buffers_at);

	if (f->header_bytes + size > f->room)
		return 0;
	copy(message, m->message, m->size);
	*(__u64 *)(message + m->length_at) = rows;
	nodes[0] = rows;
	nodes[1] = 0;
	buffers[0] = buffers[1] = buffers[2] = 0;
	buffers[3] = 4 * rows;
	for (__u64 i = 0; i < rows; i++)
		((__u32 *)body)[i] = r->tids[f->chosen[i]];
	if (rows & 1)
		((__u32 *)body)[rows] = 0;
	for (__u64 c = 0; c < count; c++) {
		__u64 missing = count_absent(f, columns[c], rows), *values;

		nodes[2 * c + 2] = rows;
		nodes[2 * c + 3] = missing;
		/* A column without absent values has no bitmap: its place is that of the values. */
		buffers[4 * c + 4] = at;
		buffers[4 * c + 5] = missing ? (rows + 7) / 8 : 0;
		if (missing) {
			fill(body + at, 0, bitmap);
			for (__u64 i = 0; i < rows; i++)
				if (!is_absent(r, f->chosen[i], columns[c]))
					body[at + i / 8] |= (__u8)(1 << i % 8);
			at += bitmap;
		}
		buffers[4 * c + 6] = at;
		buffers[4 * c + 7] = 8 * rows;
		values = (__u64 *)(body + at);
		for (__u64 i = 0; i < rows; i++)
			values[i] = *value_at(r, f->chosen[i], columns[c]);
		at += 8 * rows;
	}
	*(__u64 *)(message + m->body_at) = at;
	return m->size + at;
}

/* Makes the frame; USUAL: it is there, and no row is marked as changed any more. */
long usual_frame(struct frame *f)
{
	const struct rows *r = f->rows;
	__u8 columns[MAX_COLUMNS], *out = f->out;
	__u64 rows = 0, count = 0, batch = 0;
	__s64 took;

	if (f->header_bytes > f->room || r->width > MAX_COLUMNS)
		return NO_ROOM;
	for (__u64 i = 0; i < r->count; i++) {
		f->chosen[rows] = (__u32)i;
		rows += r->changed[i];
	}
	copy(out, f->header, f->header_bytes);
	for (__u64 c = 0; rows && c < r->width; c++)
		if (is_given(f, c, rows))
			columns[count++] = (__u8)c;
	if (rows) {
		batch = write_batch(f, columns, count, rows);
		if (!batch)
			return NO_ROOM;
	}
	write_columns(f, columns, rows ? count : r->width);
	fill(r->changed, 0, r->count);
	took = clock_ns(MONOTONIC) - (__s64)f->started_ns;
	f->sample_us = (__u64)took / 1000;
	f->sent_rows = rows;
	f->size = f->header_bytes + batch;
	number(out, f->seq_at, f->seq);
	number(out, f->first_seq_at, f->seq);
	number(out, f->rows_at, rows);
	number(out, f->time_at, f->started_ns - f->attach_ns);
	number(out, f->unix_at, (__u64)(clock_ns(REALTIME) - took) / 1000);
	number(out, f->sample_at, f->sample_us);
	number(out, f->late_at, f->late_us);
	return USUAL;
}
