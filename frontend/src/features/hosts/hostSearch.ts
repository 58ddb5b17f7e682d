/**
 * Search for hosts by words. Pure. The backend searches the same way
 * (backend/tidscope_backend/fleet/host_search.py); tests/contract/host_search.json has cases.
 */

export interface Searched {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly programs: readonly string[];
  readonly roles: readonly string[];
}

/** Test for a search: all words must match; KEY=VALUE is a label, host, program or role. */
export function searchOf(search: string): (host: Searched) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (host) =>
    words.every((word) => {
      const inverted = word.startsWith("-") && word.length > 1;
      return found(inverted ? word.slice(1) : word, host) !== inverted;
    });
}

function found(word: string, host: Searched): boolean {
  const at = word.indexOf("=");
  if (at >= 0) {
    const wanted = word.slice(at + 1);
    return valuesOf(word.slice(0, at), host).some((value) => is(value.toLowerCase(), wanted));
  }
  const known = [host.name, ...Object.values(host.labels), ...host.programs, ...host.roles];
  return known.some((one) => one.toLowerCase().includes(word));
}

function valuesOf(key: string, host: Searched): readonly string[] {
  const label = Object.entries(host.labels).find(([name]) => name.toLowerCase() === key);
  if (label !== undefined) return [label[1]];
  if (key === "host") return [host.name];
  if (key === "program") return host.programs;
  return key === "role" ? host.roles : [];
}

function is(value: string, wanted: string): boolean {
  return wanted.endsWith("*") ? value.startsWith(wanted.slice(0, -1)) : value === wanted;
}
