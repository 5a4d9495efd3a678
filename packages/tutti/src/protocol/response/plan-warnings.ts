// `planWarnings` is about a plan or an analysis that is valid but odd. Dependencies take precedence over the groups and
// the order that the agent suggests, so a contradiction between them is only a warning.
import type { BlockPhase } from "../../schema/answer.ts";
import { isRecord } from "../json/json-value.ts";

const COMPLEXITIES: unknown[] = [undefined, null, "low", "medium", "high"];

export function planWarnings(phase: BlockPhase, data: Record<string, unknown>): string[] {
  if (phase === "analysis") return complexityWarnings(data.estimated_complexity);
  if (phase !== "task_list" || !Array.isArray(data.tasks)) return [];
  const tasks = data.tasks.filter(isRecord);
  const ids = tasks.map((task) => String(task.id));
  const groups = Array.isArray(data.parallelizable_groups) ? data.parallelizable_groups.map(textsOf) : [];
  return [
    ...countWarnings(data.total_tasks, tasks.length),
    ...repeated(ids).map((id) => `Task id used twice: ${id}`),
    ...tasks.flatMap((task) => taskWarnings(task, groups)),
    ...missingFrom([...groups.flat(), ...textsOf(data.execution_order)], ids).map((id) => `No such task: ${id}`),
    ...(groups.length === 0 ? [] : missingFrom(ids, groups.flat()).map((id) => `Task in no parallel group: ${id}`)),
  ];
}

function complexityWarnings(value: unknown): string[] {
  return COMPLEXITIES.includes(value) || typeof value !== "string" ? [] : [`Unknown estimated_complexity: ${value}`];
}

function countWarnings(total: unknown, count: number): string[] {
  return typeof total !== "number" || total === count ? [] : [`total_tasks is ${total}, but there are ${count} tasks`];
}

function taskWarnings(task: Record<string, unknown>, groups: string[][]): string[] {
  const id = String(task.id);
  const { priority } = task;
  const warnings: string[] = [];
  if (typeof priority === "number" && (priority < 1 || priority > 10)) {
    warnings.push(`Priority of ${id} is not between 1 and 10: ${priority}`);
  }
  const group = groups.find((each) => each.includes(id));
  for (const other of group ? textsOf(task.dependencies) : []) {
    if (group?.includes(other)) warnings.push(`${id} depends on ${other}, which is in the same parallel group`);
  }
  return warnings;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function repeated(texts: string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const text of texts) (seen.has(text) ? twice : seen).add(text);
  return [...twice];
}

function missingFrom(texts: string[], known: string[]): string[] {
  if (texts.length === 0) return [];
  const names = new Set(known);
  return [...new Set(texts)].filter((text) => !names.has(text));
}
