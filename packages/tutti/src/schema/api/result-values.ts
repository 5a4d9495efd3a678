import { z } from "zod";

/** Each of `FILE_STATUSES` begins with the letter that git uses. */
export const FILE_STATUSES = ["added", "modified", "deleted", "renamed", "typechanged"] as const;

export const FileChange = z.object({
  path: z.string().describe("Relative to the root of the repository."),
  status: z.enum(FILE_STATUSES),
  additions: z.number().describe("Number of added lines; 0 for a binary file."),
  deletions: z.number().describe("Number of deleted lines; 0 for a binary file."),
  from: z.string().optional().describe("Path before the file was renamed."),
  binary: z.literal(true).optional(),
  patch: z.string().optional().describe("The part of `git diff` for this file. Missing with `stat=1`."),
});
export type FileChange = z.infer<typeof FileChange>;

export const ResultDiff = z.object({
  base: z.string(),
  head: z.string(),
  files: z.array(FileChange),
  stat: z.string().describe("The output of `git diff --stat`, also for the files of other pages."),
  next: z.string().optional().describe("The `after` of the next page. Missing on the last one."),
});
export type ResultDiff = z.infer<typeof ResultDiff>;

const undo = z.string().nullable().describe("The git command that undoes it. Null if nothing changed.");

export const MergeReport = z.object({
  branch: z.string().describe("The branch that the result was merged into."),
  from: z.string().describe("The commit of `branch` before."),
  to: z.string().describe("The commit of `branch` now. The same as `from` if it contained the result already."),
  added: z
    .array(z.string())
    .optional()
    .describe("The newest commits of the run's branch that the run did not make, at most 100."),
  undo,
});

export const DropReport = z.object({
  branch: z.string(),
  commit: z.string().nullable().describe("The commit of the removed branch. Null if there was no branch."),
  undo,
});
export type MergeReport = z.infer<typeof MergeReport>;
export type DropReport = z.infer<typeof DropReport>;
