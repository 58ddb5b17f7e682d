/**
 * Shorten names by their common leading words. Group names of an experiment begin with its own: "kv
 * d46904: policy=linear size=1" becomes "size=1" beside "… size=4".
 */
export function shortLabels(labels: readonly string[]): readonly string[] {
  const words = labels.map((label) => label.split(" "));
  const [first = []] = words;
  const same = first.findIndex((word, place) => words.some((one) => one[place] !== word));
  const short = words.map((one) => one.slice(Math.max(0, same)).join(" "));
  // If a name consists only of the common words, all names stay whole.
  return labels.length > 1 && short.every((label) => label !== "") ? short : labels;
}
