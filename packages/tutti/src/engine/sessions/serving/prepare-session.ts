// The second phase of a session: its specification, its workspace and the sandbox of its agent.
import { sandboxOf } from "../../choose-sandbox.ts";
import { OutsideSession } from "../../mailboxes/outside-session.ts";
import { sessionSpec } from "../../session-spec.ts";
import { prepareWorkspace } from "../prepare-workspace.ts";
import type { ServedSession } from "./served-session.ts";
import { leadOfRun, messageTo } from "../../../run/team/team.ts";
import type { Session, SessionSpec } from "../../../session/session.ts";

/** Returns null if the session was ended meanwhile. */
export async function prepareSession(served: ServedSession, start: string): Promise<SessionSpec | null> {
  const { options, key, isOutside } = served;
  const { sessions, mailbox, warmStart, workspaces, checks, world } = options;
  const isNew = served.state?.state === "spawning";
  const spec = specOf(served);
  // A set-up command comes before the agent, and a sandbox needs the paths of the workspace.
  const hasSetup = isNew && (served.run.template.workspace?.setup ?? []).length > 0;
  if (!hasSetup && served.run.sandbox !== "on" && !isOutside) sessions.announce?.(spec);
  const prepared = await prepareWorkspace(served.run, key, start, isNew, {
    workspaces,
    checks,
    world,
    get signal() {
      return served.checksEnd.signal;
    },
  });
  served.workspace = { path: prepared.path, isSparse: prepared.isSparse ?? false };
  await served.startWatching();
  if (!served.isOpen) return null;
  // Each `await` lets the other sessions that start at the same time go first, so nothing is awaited without need.
  const sandbox = served.run.sandbox === "on" ? await sandboxOf(served.run, key, workspaces) : undefined;
  if (!served.isOpen) return null;
  const placed = { ...spec, cwd: prepared.path, sandbox };
  if (mailbox) await mailbox.open();
  if (sessions.claim && isNew && served.taskId !== null) await warmStart.claim(served.run, placed, prepared, start);
  return served.isOpen ? placed : null;
}

function specOf({ sessionId, taskId, run, worker, state, key, options }: ServedSession) {
  const { openSecrets, mailbox } = options;
  const { agent, model, role } = state!;
  const named = taskId === null ? leadOfRun(run) : worker?.task.role;
  const about = { sessionId, taskId, task: worker?.task ?? null, attempt: key.attempt };
  return {
    ...sessionSpec(run, { ...about, agent, model, role }, openSecrets),
    ...(named == null ? {} : { teamRole: named }),
    ...(mailbox ? { mailbox: mailbox.folder } : {}),
  };
}

/** Another process plays a role `isOutside`, so the session host has nothing to open. */
export const openSession = (served: ServedSession, spec: SessionSpec): Session =>
  served.isOutside ? openOutside(served) : served.options.sessions.open(spec);

function openOutside(served: ServedSession): OutsideSession {
  const { sessionId, options } = served;
  const hasMail = async (): Promise<boolean> => {
    const { run, worker } = served;
    if (worker === null) return false;
    const { entries, hasRead } = await options.mailbox!.read(run, worker);
    if (hasRead && messageTo(served.run, sessionId)?.acknowledgedAt === null)
      await served.report({ type: "acknowledged", sessionId });
    return entries.length > 0;
  };
  const openTurn = served.state?.turn?.number ?? null;
  return new OutsideSession({ sessionId, hasMail, openTurn, world: options.world });
}
