// `workKey` is a hash of everything that determines the work of an attempt: prompt, task, agent, start files and the
// rules for its answer. Ids that differ between runs are not part of it.
import { sha256 } from "../fold/sha256.ts";
import type { Task } from "../../schema/task.ts";

interface WorkInputs {
  /** Has placeholders for the ids of run, task and attempt and for the folder. */
  prompt: string;
  task: Pick<Task, "title" | "description" | "scope">;
  /** Template settings that decide how an answer is read and accepted. */
  terms: object;
  agent: string;
  model?: string | undefined;
  role: string;
  tree: string;
}

/** `hash` may be another implementation of SHA-256 in hexadecimal, for example a native one. */
export function workKey({ prompt, task, terms, agent, model, role, tree }: WorkInputs, hash = sha256): string {
  const { title, description, scope } = task;
  return hash(canonical({ prompt, task: { title, description, scope }, terms, agent, model, role, tree }));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
