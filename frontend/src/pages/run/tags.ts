/** Longest tag, and how many a run may have: as the schema of a run says. */
const LONGEST = 40;
const MOST = 32;

/** Tags in a text with commas between them, each once. */
export function tagsOf(text: string): string[] {
  const tags = text
    .split(",")
    .map((tag) => tag.trim().slice(0, LONGEST))
    .filter((tag) => tag !== "");
  return [...new Set(tags)].slice(0, MOST);
}
