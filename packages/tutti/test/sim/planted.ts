export type BugName = string;
