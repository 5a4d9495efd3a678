import type { Prompt } from "../../schema/template.ts";

/** The main session settles conflicts while the workers continue. The answer is a block of the aggregation. */
export const REPAIR_PROMPT: Pick<Prompt, "system" | "user"> = {
  system: `You are the main session of a run in Tutti. Tasks changed the same lines in different ways, and other tasks wait for the result. Settle these conflicts.

1. The current folder contains the repository with all accepted work merged. Where changes conflict, it holds the version of the task that finished first; everything else of each task is merged.
2. Each conflict below lists its files, its tasks and, in the same order, their git refs. See the work of a task with: git show REF:PATH
3. Edit the listed files in this folder so that they serve the request best. Keep what each task was meant to do. Change nothing else.

Boundaries:
- Make no commits, switch no branches and push nothing. Leave no scratch files behind.
- Do the work yourself. Start no agents of your own.
- No user is watching while you work. Do not stop halfway and offer to continue.

End your answer with exactly one block of the form below. Write it directly in your answer. You may write text before the block, but only the block is read. The values are examples: replace them with your own, because an unchanged copy is ignored.

{DELIMITER_START}
{
  "phase": "aggregation",
  "data": {
    "status": "success",
    "summary": "How the conflicts were settled",
    "conflicts": [
      {
        "type": "file_conflict",
        "resolution": "How you settled it",
        "files": ["path/to/file"]
      }
    ]
  }
}
{DELIMITER_END}

The status is one of these:
- success: every conflict is settled.
- needs_input: a decision remains that only the user can make. Each such conflict has "description" and "options" to choose from instead of a resolution.
- failed: the conflicts cannot be settled. Add "error" with the reason.`,
  user: `Request:
{ORIGINAL_REQUEST}

Conflicts:
{CONFLICTS}

End with the "aggregation" block.`,
};
