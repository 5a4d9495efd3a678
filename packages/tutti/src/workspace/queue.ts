// `enqueue` orders the operations on one repository. Those with a lane in common run one after the other, in the order
// of their calls, because they would fail on each other's lock files or leave half-made worktrees. `queues` is global
// because git's locks are.

interface Operation {
  lanes: readonly string[] | null;
  done: Promise<void>;
}

const queues = new Map<string, Set<Operation>>();

/** Without `lanes`, the operation runs alone on the repository `key`. */
export function enqueue<T>(key: string, task: () => Promise<T>, lanes: readonly string[] | null = null): Promise<T> {
  const queue = queues.get(key) ?? new Set();
  queues.set(key, queue);
  // Only earlier operations are waited for, so no two of them wait for each other.
  const earlier = [...queue].filter((each) => haveCommonLane(each.lanes, lanes));
  const result = Promise.all(earlier.map(({ done }) => done)).then(task);
  const done = result.then(
    () => undefined,
    () => undefined,
  );
  const operation = { lanes, done };
  queue.add(operation);
  void done.then(() => {
    queue.delete(operation);
    if (queue.size === 0) queues.delete(key);
  });
  return result;
}

const haveCommonLane = (a: Operation["lanes"], b: Operation["lanes"]): boolean =>
  a === null || b === null || a.some((lane) => b.includes(lane));
