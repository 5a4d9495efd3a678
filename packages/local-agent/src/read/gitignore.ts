// A simple reading of the root .gitignore: comments, negation, folders, anchors and the usual wildcards. Files further
// down and the user's own exclude list are not read; what they would hide is at worst read in vain.

interface Rule {
  pattern: RegExp;
  negated: boolean;
  foldersOnly: boolean;
}

export type Ignores = (path: string, isFolder: boolean) => boolean;

export function readGitignore(text: string): Ignores {
  const rules = text
    .split("\n")
    .slice(0, 2_000)
    .map((line) => toRule(line.replace(/\r$/, "")))
    .filter((rule) => rule !== null);
  return (path, isFolder) => {
    let ignored = false;
    for (const rule of rules) {
      if ((!rule.foldersOnly || isFolder) && rule.pattern.test(path)) ignored = !rule.negated;
    }
    return ignored;
  };
}

function toRule(line: string): Rule | null {
  let glob = line.trimEnd();
  if (glob === "" || glob.startsWith("#") || glob.length > 300) return null;
  // Each star multiplies the time a path takes that almost matches; no honest pattern has this many.
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
    // A character class that no regular expression accepts hides nothing.
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
