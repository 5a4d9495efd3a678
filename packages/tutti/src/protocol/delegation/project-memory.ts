// Document 002 keeps shared artefacts in `.project-memory/`, in one folder per kind: `hld/`, `lld/api_specifications/`
// and so on. Other artefacts may be anywhere in the project, but never outside it, so `projectPath` rejects their
// paths.

/** Normalises a path relative to the project root. `projectPath` returns null if the path leaves the project. */
export function projectPath(path: string): string | null {
  if (/^(?:[\\/]|[a-z]:)/i.test(path)) return null;
  const parts: string[] = [];
  for (const part of path.split(/[\\/]/)) {
    if (part === ".." && parts.pop() === undefined) return null;
    if (part !== ".." && part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
