// `readGitignore` supports comments, negation, folders, anchors and the usual wildcards. Only the `.gitignore` at the
// root is read; files that nested ones or the user's exclude list ignore are documented too.

interface IgnoreRule {
  pattern: RegExp;
  negated: boolean;
  foldersOnly: boolean;
}

export type IgnoreTest = (path: string, isFolder: boolean) => boolean;

export function readGitignore(text: string): IgnoreTest {
  const rules = text
    .split("\n")
    .slice(0, 2_000)
    .map((line) => toRule(line.replace(/\r$/, "")))
    .filter((rule) => rule !== null);
  return (path, isFolder) => {
    let isIgnored = false;
    for (const rule of rules) {
      if ((!rule.foldersOnly || isFolder) && rule.pattern.test(path)) isIgnored = !rule.negated;
    }
    return isIgnored;
  };
}

function toRule(line: string): IgnoreRule | null {
  let glob = line.trimEnd();
  if (glob === "" || glob.startsWith("#") || glob.length > 300) return null;
  // Each star multiplies the time for a path that almost matches. No real pattern has this many.
  if (glob.split("*").length > 10) return null;
  const negated = glob.startsWith("!");
  if (negated || glob.startsWith("\\")) glob = glob.slice(1);
  const foldersOnly = glob.endsWith("/");
  if (foldersOnly) glob = glob.slice(0, -1);
  const anchored = glob.includes("/");
  if (glob.startsWith("/")) glob = glob.slice(1);
  if (glob === "") return null;
  try {
    return { pattern: new RegExp(`^${anchored ? "" : "(?:.*/)?"}${globToPattern(glob)}$`), negated, foldersOnly };
  } catch {
    // A character class that is invalid in a regular expression ignores nothing.
    return null;
  }
}

function globToPattern(glob: string): string {
  return glob.replaceAll(/\*\*\/|\/\*\*|\*+|\?|\[[^\]/]*\]|[.+^${}()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "/**") return "/.*";
    if (part.startsWith("*")) return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.startsWith("[") && part.length > 2) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\${part}`;
  });
}
