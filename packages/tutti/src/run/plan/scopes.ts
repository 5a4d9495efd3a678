// Two scopes overlap (`scopesOverlap`) if they name the same path, or a folder and a path inside it.

/** Returns the path segments of `entry`, without line numbers and symbols and up to the first wildcard. */
export function scopePath(entry: string): string[] {
  const plain = entry
    .trim()
    .replace(/:(\d+(-\d+)?|[A-Za-z_$][\w$.]*)$/, "")
    .replaceAll("\\", "/");
  const certain = plain.split("/");
  const wild = certain.findIndex((part) => /[*?[{]/.test(part));
  return (wild === -1 ? certain : certain.slice(0, wild)).filter((part) => part !== "" && part !== ".");
}

const within = (a: readonly string[], b: readonly string[]): boolean =>
  a.length <= b.length && isPrefix(a, b, a.length);

function isPrefix(a: readonly string[], b: readonly string[], length: number): boolean {
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Whether an entry of the scope names the file, or a folder around it. */
export function isInScope(scope: readonly string[], file: string): boolean {
  const parts = file.split("/");
  return scope.some((entry) => within(scopePath(entry), parts));
}

/** `scopePath` is cached, because every possible start compares all scopes. */
const pathsByScope = new WeakMap<readonly string[], string[][]>();

function scopePaths(scope: readonly string[]): string[][] {
  let paths = pathsByScope.get(scope);
  if (!paths) pathsByScope.set(scope, (paths = scope.map(scopePath)));
  return paths;
}

export function scopesOverlap(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === 0 || b.length === 0) return false;
  const others = scopePaths(b);
  return scopePaths(a).some((one) => others.some((other) => isPrefix(one, other, Math.min(one.length, other.length))));
}
