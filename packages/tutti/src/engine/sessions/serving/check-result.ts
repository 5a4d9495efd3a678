import { sandboxOf } from "../../choose-sandbox.ts";
import { commandsToCheck, runChecks } from "../run-checks.ts";
import type { ServedSession } from "./served-session.ts";

/**
 * Runs the verification commands in the workspace, which holds the files of `commit`, and then removes the files that they
 * have left there. Returns false if the session ended meanwhile.
 */
export async function checkResult(served: ServedSession, commit: string): Promise<boolean> {
  const { sessionId, key, options } = served;
  const { checks, world, workspaces } = options;
  const cwd = served.workspace.path;
  const last = served.run.checks;
  if (last?.commit === commit && !last.isRunning) return true;
  const commands = await commandsToCheck(served.run.template.phases.verification.commands, cwd, checks);
  if (commands.length === 0) return true;
  await served.report({ type: "checking", sessionId, commit });
  const { signal } = served.checksEnd;
  const sandbox = await sandboxOf(served.run, key, workspaces);
  const done = await runChecks(commands, { checks, world, cwd, runId: served.run.id, signal, sandbox });
  if (done === null) return false;
  await served.report({ type: "checked", sessionId, commit, commands: done });
  await workspaces.move(served.run.cwd, key, commit, { discard: true });
  return served.isOpen;
}
