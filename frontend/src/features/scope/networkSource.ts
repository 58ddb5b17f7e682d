/**
 * Where network numbers come from, from `source.network` of a target: the source, a colon,
 * and what there is to know about it.
 */

/** The source, as people write it. */
export function networkName(network: string): string {
  const name = network.split(":", 1)[0] ?? network;
  return name === "ebpf" ? "eBPF" : name;
}

/** What there is to know about it, as a sentence; for "none" why there is none. */
export function networkDetail(network: string): string {
  const detail = network.slice(network.indexOf(":") + 1).trim();
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".");
}
