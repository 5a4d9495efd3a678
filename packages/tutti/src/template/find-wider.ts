// `findWider` compares settings with those that they replace. It serves a project's template, which needs the user's
// consent to everything wider than the user's own templates, and a request that may not widen the chosen template.
import { settingsOf } from "./inherit.ts";
import { DEFAULT_PERMISSIONS, PERMISSION_MODES } from "../schema/permissions.ts";
import { DEFAULT_GATE } from "../schema/team/gate.ts";
import { DEFAULT_BREAKER } from "../schema/team/roles.ts";
import { DEFAULT_AUTO_RESUMES, DEFAULT_MAX_RETRIES } from "../schema/template.ts";

/**
 * `outer` is the value that `value` replaces. Either is undefined if its side does not have the setting. `outerValues` has
 * all settings of that side by path.
 */
type IsWider = (value: unknown, outer: unknown, outerValues: ReadonlyMap<string, unknown>) => boolean;
export type Widening = readonly [path: string, value: unknown];

const isTurnedOn: IsWider = (value, outer) => value === true && outer !== true;
const isTurnedOff: IsWider = (value, outer) => value === false && outer !== false;
const isNoLonger =
  (kept: unknown): IsWider =>
  (value, outer) =>
    outer === kept && value !== kept;
const isAbove =
  (byDefault: number): IsWider =>
  (value, outer = byDefault) =>
    Number(value ?? byDefault) > Number(outer);
/** Without a value there is no limit. */
const isBeyond: IsWider = (value, outer) => outer !== undefined && Number(value ?? Infinity) > Number(outer);
const isNoLongerOn: IsWider = (value, outer) => outer === true && value !== true;
const isChanged: IsWider = (value, outer) => outer !== undefined && value !== outer;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const hasMore = (value: unknown, outer: unknown): boolean => {
  const known = listOf(outer);
  return listOf(value).some((each) => !known.includes(each));
};
/** Whether a check of `outer` is missing. `auto` finds checks in the project itself, which may have none. */
const hasFewer: IsWider = (value, outer) => {
  if (outer === "auto") return value !== "auto";
  const kept = new Set(listOf(value).map((each) => JSON.stringify(each)));
  return listOf(outer).some((each) => !kept.has(JSON.stringify(each)));
};
const isWiderMode: IsWider = (value = DEFAULT_PERMISSIONS.mode, outer = DEFAULT_PERMISSIONS.mode) =>
  rankOf(value) > rankOf(outer);
/** Without aggregation, no session or user settles the conflicts that are left at the end. */
const asksAboutConflicts = (outerValues: ReadonlyMap<string, unknown>): boolean =>
  outerValues.get("/phases/aggregation/conflictResolution") === "ask" ||
  outerValues.get("/phases/aggregation/mergeStrategy") === "manual";
const rankOf = (mode: unknown): number => (PERMISSION_MODES as readonly unknown[]).indexOf(mode);

/** `RIGHTS` decide what agents may do without asking the user. Patterns are compared as they are written. */
const RIGHTS: readonly [RegExp, IsWider][] = [
  [/^\/config\/permissions\/mode$/, isWiderMode],
  [/^\/config\/permissions\/allow$/, hasMore],
  [/^\/config\/permissions\/refuse$/, (value, outer) => hasMore(outer, value)],
  [/^\/config\/sandbox\/network$/, (value, outer) => outer === false && value !== false],
  [/^\/roles\/[^/]+\/workspace$/, isNoLonger("read")],
];

/** `QUESTIONS` spare the user a question or a limit. */
const QUESTIONS: readonly [RegExp, IsWider][] = [
  [/^\/config\/(autoSpawn|acceptWithoutWork|autoRetry|autoResume)$/, isTurnedOn],
  // Sub-agents of the main session bypass the plan and its limits.
  [/^\/config\/useSubSessions$/, isTurnedOn],
  [/^\/config\/maxRetries$/, isAbove(DEFAULT_MAX_RETRIES)],
  [/^\/config\/maxAutoResumes$/, isAbove(DEFAULT_AUTO_RESUMES)],
  [/^\/config\/answerTimeout$/, (value, outer) => value !== undefined && value !== outer],
  [/^\/config\/budget\/[^/]+$/, isBeyond],
  [/^\/phases\/aggregation\/conflictResolution$/, isNoLonger("ask")],
  [/^\/phases\/aggregation\/mergeStrategy$/, isNoLonger("manual")],
  [
    /^\/phases\/aggregation\/enabled$/,
    (value, outer, outerValues) => asksAboutConflicts(outerValues) && isTurnedOff(value, outer, outerValues),
  ],
  [/^\/phases\/verification\/enabled$/, isNoLongerOn],
  // Without workers there is no plan to confirm.
  [/^\/phases\/workerExecution\/enabled$/, isTurnedOff],
  // The user confirms only the first plan of a continuous team.
  [/^\/team\/continuous$/, isTurnedOn],
  [/^\/team\/breaker$/, isAbove(DEFAULT_BREAKER)],
  // The user is asked about a role that is late by the deadline, so a longer one asks later.
  [/^\/team\/deadline$/, isBeyond],
  [/^\/gate\/environments\/[^/]+\/(override|conditional)$/, isTurnedOn],
  [/^\/gate\/environments\/[^/]+\/approvalTtl$/, isBeyond],
  // Another environment could be production instead of a test environment.
  [/^\/gate\/environment$/, (value, outer = DEFAULT_GATE.environment) => (value ?? outer) !== outer],
  [/^\/phases\/(aggregation|verification)\/commands$/, hasFewer],
  // A hook of the user may pause the run.
  [/^\/hooks\/[^/]+\/run$/, isChanged],
  [/^\/hooks\/[^/]+\/onFailure$/, isNoLonger("pause")],
];

export const findWider = (settings: unknown, outer: unknown): Widening[] =>
  compare(settings, outer, [...RIGHTS, ...QUESTIONS]);

/** Like `findWider`, but without `QUESTIONS`: the author of these settings may answer the user's questions. */
export const findWiderRights = (settings: unknown, outer: unknown): Widening[] => compare(settings, outer, RIGHTS);

/** Compares the union of both paths, so that a setting that was removed counts like one that was changed. */
function compare(settings: unknown, outer: unknown, table: readonly [RegExp, IsWider][]): Widening[] {
  const [values, outerValues] = [new Map(settingsOf(settings)), new Map(settingsOf(outer))];
  return [...new Set([...values.keys(), ...outerValues.keys()])].flatMap((path): Widening[] => {
    const isWider = table.find(([pattern]) => pattern.test(path))?.[1];
    const value = values.get(path);
    return isWider?.(value, outerValues.get(path), outerValues) ? [[path, value ?? null]] : [];
  });
}
