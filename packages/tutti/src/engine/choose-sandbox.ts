import { TuttiError } from "../schema/error.ts";
import type { SandboxMode, SandboxState } from "../schema/agent/sandbox.ts";
import type { Run } from "../schema/run.ts";
import type { SessionHost, SessionSandbox } from "../session/session.ts";
import type { WorkspaceKey, Workspaces } from "../workspace/workspace.ts";

interface SandboxContext {
  sandboxMode?: () => SandboxMode;
  requiresSandbox?: boolean;
  sessions: SessionHost;
}

const REMEDY = 'Install bubblewrap and allow user namespaces ("tutti doctor" shows the problem)';

/** A host without `findSandboxProblem` starts no processes on this machine, so it has no sandbox to offer. */
export async function chooseSandbox(
  requested: SandboxMode | undefined,
  { sandboxMode, requiresSandbox = false, sessions }: SandboxContext,
): Promise<SandboxState> {
  if (requiresSandbox && requested !== undefined && requested !== "required")
    throw new TuttiError(
      "forbidden",
      `This engine requires the sandbox, so a run cannot have the mode "${requested}". Leave it out.`,
    );
  const wanted = requested ?? sandboxMode?.() ?? "off";
  if (wanted === "off") return "off";
  const problem = sessions.findSandboxProblem ? await sessions.findSandboxProblem() : NOT_HERE;
  if (problem === null) return "on";
  if (wanted === "auto") return sessions.findSandboxProblem ? "unavailable" : "off";
  throw new TuttiError("sandbox_unavailable", `The run requires the sandbox, but ${problem}. ${REMEDY}.`);
}

const NOT_HERE = "its agents do not run as processes on this machine";

/** The warning of a run with the `SandboxState` "unavailable". */
export async function describeMissing(sessions: SessionHost): Promise<string> {
  const problem = (await sessions.findSandboxProblem?.()) ?? NOT_HERE;
  const advice = `${REMEDY}, or accept it with "--sandbox off".`;
  return `The agents have no sandbox and can do whatever you can: ${problem}. ${advice}`;
}

/** Returns `undefined` if the run has no sandbox. `key` names the workspace of a session or of check commands. */
export async function sandboxOf(
  { sandbox, template, cwd }: Run,
  key: WorkspaceKey,
  workspaces: Workspaces,
): Promise<SessionSandbox | undefined> {
  if (sandbox !== "on") return undefined;
  const { readable = [], ...access } = await workspaces.access(cwd, key);
  // `workspace.link` puts links to these files into the workspace. The rest of the user's folder is hidden.
  const linked = (template.workspace?.link ?? []).map((name) => `${cwd}/${name}`);
  const network = template.config.sandbox?.network ?? true;
  return { network, access: { ...access, readable: [...readable, ...linked] } };
}
