// `enqueue` serialises the commands that change one repository. Parallel ones fail on each other's lock files and leave
// half-made worktrees. `tails` is global because git's locks are.

const tails = new Map<string, Promise<void>>();

export function enqueue<T>(key: string, task: () => Promise<T>): Promise<T> {
  const result = (tails.get(key) ?? Promise.resolve()).then(task);
  const tail = result
    .then(
      () => undefined,
      () => undefined,
    )
    .then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
  tails.set(key, tail);
  return result;
}
