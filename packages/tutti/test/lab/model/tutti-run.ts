// A model that plays a whole run of Tutti: it reads the phase and the task from Tutti's prompts and answers with a
// valid block, for workers after real tool calls.
import { DEFAULT_DELIMITERS } from "../../../src/protocol/response/response-scanner.ts";
import type { BlockPhase } from "../../../src/schema/answer.ts";
import type { Script } from "./model-endpoint.ts";
import type { ModelRequest } from "./model-request.ts";
import { inOrder } from "./script.ts";
import { run, say, write } from "./step.ts";

interface PlayedTask {
  id: string;
  dependencies?: string[];
  scope?: string[];
  priority?: number;
  agent?: string;
  model?: string;
  /** The worker's script. Default: `goodWork`. */
  work?: Script;
}

export interface PlayedRun {
  tasks: PlayedTask[];
  /** Replaces the default script of a phase. */
  phases?: Partial<Record<BlockPhase, Script>>;
}

/** The script of a main session that plans these tasks and accepts every result, and of good workers. */
export function playRun({ tasks, phases = {} }: PlayedRun): Script {
  return (request) => {
    const { phase, task: id } = askedFor(request);
    const custom = phases[phase];
    if (custom) return custom(request);
    if (phase !== "completion") return [say(`Here is the ${phase}.\n\n`), say(block(phase, usualData(phase, tasks)))];
    const task = tasks.find((task) => task.id === id);
    if (!task) throw new Error(`the plan has no task ${id}`);
    return (task.work ?? goodWork(task.id))(request);
  };
}

/** A worker that writes `file` with the agent's own tool, lists it with the shell, and reports it. */
export function goodWork(id: string, file = `docs/${id}.md`): Script {
  const progress = { task_id: id, status: "in_progress", progress_percent: 50, current_action: `writing ${file}` };
  return inOrder(
    [say(`I write ${file}.\n\n${block("progress", progress)}`), write(file, `# ${id}\n\nWritten by its worker.\n`)],
    [run(`cat ${file}`)],
    [say(`The page is there.\n\n${completion(id, { output_files: [file] })}`)],
  );
}

export function block(phase: BlockPhase, data: object, delimiters = DEFAULT_DELIMITERS): string {
  const json = JSON.stringify({ phase, data }, null, 2);
  return `${delimiters.delimiterStart}\n${json}\n${delimiters.delimiterEnd}`;
}

export const completion = (task_id: string, data: object = {}): string =>
  block("completion", { task_id, status: "success", summary: `${task_id} is done`, ...data });

export function askedFor({ prompt }: Pick<ModelRequest, "prompt">): { phase: BlockPhase; task: string | null } {
  const [, phase, task] = [...prompt.matchAll(/with the "(\w+)" block(?: for ([\w-]+))?/g)].at(-1) ?? [];
  if (phase === undefined) throw new Error(`not a prompt of Tutti: "${prompt.slice(0, 80)}"`);
  return { phase: phase as BlockPhase, task: task ?? null };
}

function usualData(phase: BlockPhase, tasks: PlayedTask[]): object {
  switch (phase) {
    case "analysis":
      return { summary: "a small project", recommended_splits: tasks.length, key_files: ["README.md"] };
    case "task_list":
      return { total_tasks: tasks.length, tasks: tasks.map(planned) };
    case "aggregation":
      return { status: "success", summary: "all parts fit together", conflicts: [], merged_output: "pages in docs" };
    case "verification":
      return { status: "passed", summary: "every page is there", issues: [] };
    default:
      throw new Error(`no prompt asks for ${phase}`);
  }
}

const planned = ({ id, dependencies = [], scope = [`docs/${id}.md`], priority = 1, agent, model }: PlayedTask) => ({
  ...(agent === undefined ? {} : { agent }),
  ...(model === undefined ? {} : { model }),
  id,
  title: `Title of ${id}`,
  description: `Write the page of ${id}.`,
  scope,
  priority,
  dependencies,
});
