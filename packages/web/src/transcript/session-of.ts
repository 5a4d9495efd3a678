// `sessionsOf` maps `main` or a task id to its sessions, one per attempt.
import { translate } from "../text/language.ts";
import { mainSessionId, workerSessionId } from "../../../tutti/src/schema/ids.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver, isWorkerOver } from "../../../tutti/src/schema/status.ts";

interface SessionNames {
  title: string;
  /** One per attempt, the newest last. */
  sessions: string[];
  /** Whether the newest of `sessions` may still append to its transcript. */
  alive: boolean;
}

export function sessionsOf(run: Run, name: string): SessionNames {
  const prefix = run.template.config.sessionPrefix;
  if (name === "main") {
    const sessions = upTo(run.main?.attempt ?? 0).map((attempt) => mainSessionId(run.id, attempt, prefix));
    return { title: translate("Main session"), sessions, alive: !isRunOver(run.status) };
  }
  const worker = run.workers[name];
  const title = run.tasks.find(({ id }) => id === name)?.title ?? name;
  const sessions = upTo(worker?.attempt ?? 0).map((attempt) => workerSessionId(run.id, name, attempt, prefix));
  return { title, sessions, alive: worker ? !isWorkerOver(worker.status) : !isRunOver(run.status) };
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
