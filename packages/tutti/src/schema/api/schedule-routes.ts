// The routes of runs that nobody starts by hand: schedules, and triggers that others set off.
import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { RunStatus, time } from "./run-values.ts";
import { Verdict } from "../outcome.ts";
import { RUN_CANNOT_BE_MADE } from "./run-routes.ts";

const LastRun = z.object({
  id: z.string(),
  status: RunStatus,
  outcome: Verdict.nullable(),
  createdAt: time,
});

const about = {
  name: z.string(),
  template: z.string(),
  cwd: z.string(),
  enabled: z.boolean(),
  confirm: z.enum(["ask", "yes"]),
  maxConcurrent: z.number(),
  running: z.number().describe("Runs of it that are not over."),
  problem: z.string().nullable().describe("Why nothing can be started for it at the moment."),
};

const Schedule = z.object({
  ...about,
  cron: z.string(),
  timeZone: z.string(),
  missed: z.enum(["skip", "once"]),
  nextDue: time.nullable(),
  lastDue: time.nullable().describe("The last due time that was dealt with."),
  lastRun: LastRun.extend({ due: time.nullable().describe("Null if it was started by hand.") }).nullable(),
  lastSkipped: z.object({ due: time, at: time, reason: z.string() }).nullable(),
});
export type ScheduleView = z.infer<typeof Schedule>;

const Trigger = z.object({ ...about, lastRun: LastRun.nullable() });
export type TriggerView = z.infer<typeof Trigger>;

/** A run that was made for a schedule or a trigger. */
export const LaunchedRun = z.object({ orchestratorId: z.string(), status: RunStatus });

/** What may be wrong with a run that is made, besides what a request for it says. */
const CANNOT_BE_MADE = ["too_many_runs", "wrong_state", ...RUN_CANNOT_BE_MADE] as const;

export const SCHEDULE_ROUTES = {
  "GET /api/schedules": {
    summary: "All schedules: when each is due, what its last run was and what was skipped.",
    query: IdPageQuery,
    response: z.array(Schedule),
    errors: [],
  },
  "POST /api/schedules/:name/run": {
    summary: "Starts a run of a schedule now.",
    response: LaunchedRun,
    status: 201,
    errors: ["not_found", ...CANNOT_BE_MADE],
  },
  "GET /api/triggers": {
    summary: "All triggers, and what the last run of each was.",
    query: IdPageQuery,
    response: z.array(Trigger),
    errors: [],
  },
  "POST /api/triggers/:name": {
    summary: "Sets a trigger off. A signature stands in the place of the token; the body may be any JSON.",
    body: z.unknown(),
    headers: {
      "X-Hub-Signature-256": "`sha256=` and the HMAC of the body in hexadecimal digits.",
      "X-Tutti-Signature": "`t=SECONDS,id=NAME,v1=HMAC of SECONDS.NAME.BODY`; the name may be left out.",
    },
    response: LaunchedRun,
    status: 202,
    repeated: "The same delivery came before and has its run already.",
    errors: CANNOT_BE_MADE,
    signed: true,
  },
} as const satisfies RouteTable;
