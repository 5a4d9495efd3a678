import { TuttiError } from "../schema/error.ts";
import { runBranch } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

/** Throws unless the run `isRunOver` and has a result. */
export function endedResult({ id, status, head }: Run): string {
  if (!isRunOver(status)) {
    const advice = `Wait until it has ended, or cancel it with "tutti cancel ${id}".`;
    throw new TuttiError("wrong_state", `Run "${id}" has not ended. ${advice}`);
  }
  if (head !== null) return head;
  throw new TuttiError(
    "wrong_state",
    `Run "${id}" has no result, because it ended before it started any work. Start a new run.`,
  );
}

/** Settings of git that match `PROGRAM` name a program which a merge starts. */
const PROGRAM = /^(?:filter|merge)\..+\.(?:clean|smudge|process|driver)$/s;

/** Throws if one of `repositoryChanges` names a program that a merge starts: an agent may have written it. */
export function refuseNewPrograms({ id, repositoryChanges = [] }: Run): void {
  const name = repositoryChanges.flatMap(({ settings }) => settings).find((setting) => PROGRAM.test(setting));
  if (name === undefined) return;
  const advice = `Check it with "git config --get ${name}". If it is correct, merge with "git merge ${runBranch(id)}".`;
  const message = `While run "${id}" worked, the setting "${name}" changed, and a merge would start its program.`;
  throw new TuttiError("wrong_state", `${message} ${advice}`);
}
