// Where artefacts lie. Document 002 keeps the shared ones in `.project-memory/`, in a folder for each kind: `hld/`,
// `lld/api_specifications/` and so on. Others may lie anywhere in the project, but nothing lies outside of it.

export const PROJECT_MEMORY = ".project-memory";

/** The path from the project's root, without detours; null if it leads out of the project. */
export function projectPath(path: string): string | null {
  if (/^(?:[\\/]|[a-z]:)/i.test(path)) return null;
  const parts: string[] = [];
  for (const part of path.split(/[\\/]/)) {
    if (part === ".." && parts.pop() === undefined) return null;
    if (part !== ".." && part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** The path of a shared artefact inside the project memory: `hld/auth_system_design.md`; null if it lies elsewhere. */
export function memoryPath(path: string): string | null {
  const whole = projectPath(path);
  return whole?.startsWith(`${PROJECT_MEMORY}/`) ? whole.slice(PROJECT_MEMORY.length + 1) : null;
}
