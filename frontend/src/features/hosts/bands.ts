/** Bands and curves as paths of a picture. Pure. */

/** Path of the band between two lines, in parts where both are known. */
export function bandPath(
  low: readonly (number | null)[],
  high: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  const parts: string[] = [];
  let from = -1;
  const close = (to: number) => {
    if (from < 0) return;
    const ahead: string[] = [];
    const back: string[] = [];
    for (let at = from; at < to; at++) {
      ahead.push(`${x(at).toFixed(1)} ${y(high[at] ?? 0).toFixed(1)}`);
      back.unshift(`${x(at).toFixed(1)} ${y(low[at] ?? 0).toFixed(1)}`);
    }
    parts.push(`M${[...ahead, ...back].join("L")}Z`);
    from = -1;
  };
  for (let at = 0; at < low.length; at++) {
    const known = low[at] != null && high[at] != null;
    if (known && from < 0) from = at;
    if (!known) close(at);
  }
  close(low.length);
  return parts.join("");
}

/** Path of a line with gaps. */
export function linePath(
  values: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let path = "";
  let pen = false;
  values.forEach((value, at) => {
    if (value === null) {
      pen = false;
      return;
    }
    path += `${pen ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = true;
  });
  return path;
}

/** Greatest value of several lines; 0 without any. */
export function topOf(lines: readonly (readonly (number | null)[])[]): number {
  return lines.reduce((most, line) => line.reduce<number>((a, b) => Math.max(a, b ?? 0), most), 0);
}
