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
  // Members in the order of their names, like those of `canonical`, which takes 20 times as long.
  const first = JSON.stringify({ agent, model, prompt, role, task: { description, scope, title } });
  // The last members in the order of their names. All attempts of a run share `terms`, the largest of them.
  const text = `${first.slice(0, -1)},"terms":${canonicalTerms(terms)},"tree":${JSON.stringify(tree)}}`;
  return hash(text);
}

const knownTerms = new WeakMap<object, string>();

function canonicalTerms(terms: object): string {
  const known = knownTerms.get(terms) ?? canonical(terms);
  knownTerms.set(terms, known);
  return known;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
