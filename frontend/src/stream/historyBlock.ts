/** One block of a history: some instants that all slots share; see history.ts. */

export interface Block {
  readonly id: number;
  /** Instants in it, and how many fit (the length of a column). */
  count: number;
  readonly stride: number;
  readonly time_s: Float64Array;
  /** Float64[slots * fields]: values at the start of the block. */
  base: Float64Array;
  /** Int32[slots * fields]: number of the column, -1 if the value did not move. */
  index: Int32Array;
  /** Float64[columns * stride], and for each column how many instants are written. */
  pool: Float64Array;
  filled: Uint16Array;
  columns: number;
  thinned: boolean;
}

const FIRST_COLUMNS = 64;

/**
 * An empty block.
 *
 * @param latest Float64: values that hold until they move.
 * @param size Slots times fields.
 * @param stride Instants that fit.
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

/** Number of a new column; its block has room for it. */
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

/** The block with the last instant of each second only. */
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
