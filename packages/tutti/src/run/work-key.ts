// What an attempt is about, as one short text: two attempts with the same key have the same thing to do, for the same kind
// of worker, from the same files, and their answers are judged alike. Names that differ from run to run are not in it.
import { sha256 } from "./sha256.ts";
import type { Task } from "../schema/task.ts";

export interface WorkInputs {
  /** What the worker is told, with neutral words for the names of the run, the task, the attempt and the folder. */
  prompt: string;
  task: Pick<Task, "title" | "description" | "scope">;
  /** What the template says about how an answer is read and when it is accepted. */
  terms: object;
  agent: string;
  role: string;
  /** The git tree that the work starts from. */
  tree: string;
}

/** `hash` may be a faster one than our own, as long as it is a SHA-256 in hexadecimal signs. */
export function workKey({ prompt, task, terms, agent, role, tree }: WorkInputs, hash = sha256): string {
  const { title, description, scope } = task;
  return hash(canonical({ prompt, task: { title, description, scope }, terms, agent, role, tree }));
}

/** JSON in which the order of members says nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
