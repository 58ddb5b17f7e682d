/**
 * Source of network numbers, from `source.network` of a target: the source, a colon, and a detail.
 */

/** The source in readable form. */
export function networkName(network: string): string {
  const name = network.split(":", 1)[0] ?? network;
  return name === "ebpf" ? "eBPF" : name;
}

/** Detail on the source as a sentence; for "none" the reason. */
export function networkDetail(network: string): string {
  const detail = network.slice(network.indexOf(":") + 1).trim();
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".");
}
