/** `before` and `after` are the numbers of the line in both versions, null where it does not exist. */
export interface PatchLine {
  kind: "hunk" | "added" | "removed" | "same" | "note";
  text: string;
  before: number | null;
  after: number | null;
}

/** `patch` is one file's part of `git diff`; its header is left out. */
export function splitPatch(patch: string): PatchLine[] {
  const all = patch.replace(/\n$/, "").split("\n");
  const first = all.findIndex((line) => line.startsWith("@@"));
  if (first < 0) return [];
  let [before, after] = [0, 0];
  return all.slice(first).map((text): PatchLine => {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text) ?? [];
    if (from !== undefined && to !== undefined) {
      [before, after] = [Number(from), Number(to)];
      return { kind: "hunk", text, before: null, after: null };
    }
    const rest = text.slice(1);
    switch (text[0]) {
      case "+":
        return { kind: "added", text: rest, before: null, after: after++ };
      case "-":
        return { kind: "removed", text: rest, before: before++, after: null };
      case "\\":
        return { kind: "note", text: rest, before: null, after: null };
      default:
        return { kind: "same", text: rest, before: before++, after: after++ };
    }
  });
}
