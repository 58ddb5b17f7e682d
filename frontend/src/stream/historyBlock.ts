/** One block of a history: some instants shared by all slots; see history.ts. */

export interface Block {
  readonly id: number;
  /** Number of instants, and capacity (the length of a column). */
  count: number;
  readonly stride: number;
  readonly time_s: Float64Array;
  /** Float64[slots * fields]: values at the start of the block. */
  base: Float64Array;
  /** Int32[slots * fields]: index of the column, -1 if the value is unchanged. */
  index: Int32Array;
  /** Float64[columns * stride], and the number of instants written in each column. */
  pool: Float64Array;
  filled: Uint16Array;
  columns: number;
  thinned: boolean;
}

const FIRST_COLUMNS = 64;

/**
 * An empty block.
 * @param latest Float64: initial values.
 * @param size Slots times fields.
 * @param stride Capacity in instants.
 */
export function newBlock(id: number, latest: Float64Array, size: number, stride: number): Block {
  const base = new Float64Array(size).fill(Number.NaN);
  base.set(latest.subarray(0, size));
  return {
    id,
    count: 0,
    stride,
    time_s: new Float64Array(stride),
    base,
    index: new Int32Array(size).fill(-1),
    pool: new Float64Array(FIRST_COLUMNS * stride),
    filled: new Uint16Array(FIRST_COLUMNS),
    columns: 0,
    thinned: false,
  };
}

/** Add a column and return its index, growing the pool if needed. */
export function addColumn(block: Block): number {
  if (block.columns === block.filled.length) {
    const filled = new Uint16Array(2 * block.columns);
    filled.set(block.filled);
    const pool = new Float64Array(filled.length * block.stride);
    pool.set(block.pool);
    block.filled = filled;
    block.pool = pool;
  }
  return block.columns++;
}

/** Copy of a block with only the last instant of each second. */
export function thinnedBlock(block: Block): Block {
  const keep: number[] = [];
  for (let i = 0; i < block.count; i++) {
    const next = i + 1 < block.count ? (block.time_s[i + 1] ?? 0) : Number.POSITIVE_INFINITY;
    if (Math.floor(next) > Math.floor(block.time_s[i] ?? 0)) keep.push(i);
  }
  const stride = keep.length;
  const pool = new Float64Array(block.columns * stride);
  for (let c = 0; c < block.columns; c++) {
    const last = (block.filled[c] ?? 1) - 1;
    for (let k = 0; k < stride; k++) {
      pool[c * stride + k] = block.pool[c * block.stride + Math.min(keep[k] ?? 0, last)] ?? 0;
    }
  }
  return {
    id: block.id,
    count: stride,
    stride,
    time_s: Float64Array.from(keep, (i) => block.time_s[i] ?? 0),
    base: block.base,
    index: block.index,
    pool,
    filled: new Uint16Array(block.columns).fill(stride),
    columns: block.columns,
    thinned: true,
  };
}

/** Size of its arrays. */
export function bytesOf(block: Block): number {
  return (
    block.time_s.byteLength +
    block.base.byteLength +
    block.index.byteLength +
    block.pool.byteLength +
    block.filled.byteLength
  );
}
