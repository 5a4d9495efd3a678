// Which tasks would get in each other's way: those whose scopes name the same files, or a folder and something in it.

/** The part of a scope entry that is certain: no line numbers or symbols, nothing from the first wildcard on. */
export function scopePath(entry: string): string[] {
  const plain = entry
    .trim()
    .replace(/:(\d+(-\d+)?|[A-Za-z_$][\w$.]*)$/, "")
    .replaceAll("\\", "/");
  const certain = plain.split("/");
  const wild = certain.findIndex((part) => /[*?[{]/.test(part));
  return (wild === -1 ? certain : certain.slice(0, wild)).filter((part) => part !== "" && part !== ".");
}

function within(a: readonly string[], b: readonly string[]): boolean {
  return a.length <= b.length && a.every((part, i) => part === b[i]);
}

/** The scope of a task is read once: it is asked for whenever another might start. */
const read = new WeakMap<readonly string[], string[][]>();

function scopePaths(scope: readonly string[]): string[][] {
  let paths = read.get(scope);
  if (!paths) read.set(scope, (paths = scope.map(scopePath)));
  return paths;
}

/** A task that names no scope is taken at its word: it gets in nobody's way. */
export function scopesOverlap(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === 0 || b.length === 0) return false;
  const others = scopePaths(b);
  return scopePaths(a).some((one) => others.some((other) => within(one, other) || within(other, one)));
}
