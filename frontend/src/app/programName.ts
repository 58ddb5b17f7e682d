/** Readable name of the program that opened a session. */

/** Most specific first: Edge also claims to be Chrome and Safari. */
const BROWSERS = [
  [/Edg\/(\d+)/, "Edge"],
  [/OPR\/(\d+)/, "Opera"],
  [/Firefox\/(\d+)/, "Firefox"],
  [/Chrome\/(\d+)/, "Chrome"],
  [/Version\/(\d+).*Safari\//, "Safari"],
] as const;
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux"] as const;
const MAX_LABEL = 40;

/** "Firefox 140 on Linux", from a User-Agent; any other text unchanged, but shortened. */
export function programName(label: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(label)?.[1];
    if (version !== undefined) {
      const system = SYSTEMS.find((each) => label.includes(each));
      return `${name} ${version}${system === undefined ? "" : ` on ${system}`}`;
    }
  }
  if (label === "") return "Unknown program";
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
}
