// Runs a template with scripted agents in `withRehearsalFolder`. Calls no model and leaves no files.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { plural } from "../../run/describe-event.ts";
import { watch } from "../run/watch.ts";
import { withEngine } from "../access/open-runs.ts";
import { openTemplates } from "../../main/templates.ts";
import { rehearsalRequest, withRehearsalFolder } from "../../main/rehearsal.ts";
import { localRuns } from "../access/local-runs.ts";
import type { LiveRun, RunAccess } from "../access/runs.ts";
import type { Output } from "../terminal/output.ts";
import { readPairs } from "../input/pairs.ts";
import { readNumber } from "../input/read-number.ts";
import { TuttiError } from "../../schema/error.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Template } from "../../schema/template.ts";

interface RehearseFlags {
  cwd?: string;
  request?: string;
  var: string[];
  tasks?: string;
  prompts?: boolean;
}

const MAX_TASKS = 50;
/**
 * Without `--prompts`, `excerpt` shows the first `FIRST_LINES` of a prompt and at most `OWN_LINES` that the template of
 * a user does not inherit.
 */
const FIRST_LINES = 4;
const OWN_LINES = 8;

export async function rehearse(output: Output, templateId: string, flags: RehearseFlags): Promise<number> {
  const customVariables = readPairs("--var", flags.var);
  const tasks = flags.tasks === undefined ? undefined : readNumber("--tasks", flags.tasks, 1, MAX_TASKS);
  const templates = openTemplates(output.dataDir);
  const project = readFolder(flags.cwd ?? ".");
  const { template } = templates.resolve(templateId, project);
  const isOwn = templates.list(project).some(({ id, place }) => id === templateId && place !== "system");
  const parent = isOwn && template.extends ? templates.resolve(template.extends, project).template : template;
  const own = flags.prompts ? null : ownLines(template, parent);
  const message = flags.request ?? rehearsalRequest(template);
  return withRehearsalFolder(template, tasks, ({ dataDir, cwd, scenario }) =>
    withEngine({ ...output.options, dataDir, scenario }, async (opened, signal) => {
      const { engine } = opened;
      announce(output, template);
      const agent = `script:${scenario}`;
      const { id } = await engine.create({ templateId, cwd, message, agent, customVariables });
      const runs = withPrompts(localRuns(opened), output, own);
      // `whenStopped` replaces the hint to `tutti attach`, since the run is deleted with its folder.
      const whenStopped = "Stopped. Nothing of this rehearsal is stored.";
      return watch({ runs, output, id, signal, yes: true, allowDegraded: false, start: true, whenStopped });
    }),
  );
}

function readFolder(folder: string): string {
  if (existsSync(folder)) return resolve(folder);
  throw new TuttiError(
    "folder_not_found",
    `Folder "${resolve(folder)}" does not exist. Name an existing project with --cwd.`,
  );
}

/** A rehearsal starts neither the agents nor the `hooks` of the template, so these are only printed. */
function announce(output: Output, { id, phases, hooks }: Template): void {
  const named = (enabled: boolean) =>
    Object.entries(phases).flatMap(([name, phase]) => (phase.enabled === enabled ? [name] : []));
  const off = named(false);
  output.line(`rehearsing ${id} on a sample project: the agents are scripted, and nothing is stored`);
  output.line(`phases: ${named(true).join(", ")}${off.length > 0 ? `; disabled: ${off.join(", ")}` : ""}`);
  for (const [name, { agent }] of Object.entries(phases)) if (agent) output.line(`${name} would be done by ${agent}`);
  for (const [name, hook] of Object.entries(hooks)) if (hook) output.line(`${name} would run ${hook.run}`);
}

interface SentPrompt {
  phase: string;
  taskId: string | null;
  sessionId: string;
  turn: number;
  text: string;
}

/**
 * Shows each prompt before the `turn:ended` of its turn: by then `transcript` has it exactly as sent. `afterShown`
 * delays events until the prompts before them are shown.
 */
function withPrompts(runs: RunAccess, output: Output, own: readonly string[][] | null): RunAccess {
  const phases = new Map<string, string>();
  let shown = Promise.resolve();
  const afterShown = async <T>(value: T): Promise<T> => {
    await shown;
    return value;
  };

  async function showPromptOf(event: StoredEvent, run: Run): Promise<void> {
    if (event.type !== "turn:started" && event.type !== "turn:ended") return;
    const { sessionId, taskId, turn } = event.data;
    const key = `${sessionId} ${turn}`;
    if (event.type === "turn:started") return void phases.set(key, event.data.phase);
    for (const entry of await runs.transcript(run.id, sessionId)) {
      if (entry.type !== "prompt" || entry.turn !== turn) continue;
      showPrompt(output, { phase: phases.get(key)!, taskId, sessionId, turn, text: entry.text }, own);
    }
  }

  async function watchRun(id: string): Promise<LiveRun> {
    const live = await runs.watch(id);
    return {
      get run() {
        return live.run;
      },
      past: live.past,
      subscribe: (listener) =>
        live.subscribe((event, run) => {
          shown = shown.then(() => showPromptOf(event, run)).then(() => listener(event, run));
        }),
      until: (reached) => live.until(reached).then(afterShown),
      settled: () => live.settled().then(afterShown),
      close: () => live.close(),
    };
  }
  return { ...runs, watch: watchRun };
}

/** `own` is null if prompts are shown in full. */
function showPrompt(output: Output, prompt: SentPrompt, own: readonly string[][] | null): void {
  output.value({ prompt });
  const { phase, taskId, text } = prompt;
  const lines = text.split("\n");
  const shown = own === null ? lines : excerpt(lines, own);
  const size = `${plural(lines.length, "line")}, ${plural(text.length, "character")}`;
  output.line(`prompt of ${phase} for ${taskId ?? "the main session"}: ${size}`);
  for (const line of shown) output.line(`  | ${own === null ? line : shorten(line)}`);
}

function excerpt(lines: readonly string[], own: readonly string[][]): string[] {
  const filled = lines.filter((line) => line.trim() !== "");
  const rest = filled.slice(FIRST_LINES).filter((line) => own.some((parts) => containsInOrder(line, parts)));
  return [...filled.slice(0, FIRST_LINES), ...(rest.length > 0 ? ["…"] : []), ...rest.slice(0, OWN_LINES)];
}

/** Returns the lines of `template` that `parent` does not have, each as the texts around its variables. */
function ownLines(template: Template, parent: Template): string[][] {
  const inherited = new Set(promptLines(parent));
  return promptLines(template)
    .filter((line) => !inherited.has(line))
    .map((line) => line.split(/\{[A-Z_]+\}/).filter((part) => part.trim() !== ""))
    .filter((parts) => parts.length > 0);
}

const promptLines = ({ prompts }: Template): string[] =>
  Object.values(prompts as Record<string, { system?: string; user?: string }>)
    .flatMap(({ system = "", user = "" }) => [...system.split("\n"), ...user.split("\n")])
    .filter((line) => line.trim() !== "");

function containsInOrder(line: string, parts: readonly string[]): boolean {
  let at = 0;
  return parts.every((part) => {
    const found = line.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

const LINE_LENGTH = 110;
const shorten = (line: string): string => (line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH - 1)}…` : line);
