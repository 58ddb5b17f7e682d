/**
 * What tells names from one another: words that all of them begin with are left out. Names of groups of
 * an experiment begin with its own: "kv d46904: policy=linear size=1" is "size=1" beside "… size=4".
 */
export function shortLabels(labels: readonly string[]): readonly string[] {
  const words = labels.map((label) => label.split(" "));
  const [first = []] = words;
  const same = first.findIndex((word, place) => words.some((one) => one[place] !== word));
  const short = words.map((one) => one.slice(Math.max(0, same)).join(" "));
  // One that is nothing but what all begin with keeps its name, and so do all.
  return labels.length > 1 && short.every((label) => label !== "") ? short : labels;
}
