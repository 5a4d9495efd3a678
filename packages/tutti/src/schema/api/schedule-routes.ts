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
  running: z.number().describe("Number of its runs that have not ended."),
  problem: z.string().nullable().describe("Why no run can be started at the moment."),
};

const Schedule = z.object({
  ...about,
  cron: z.string(),
  timeZone: z.string(),
  missed: z.enum(["skip", "once"]),
  nextDue: time.nullable(),
  lastDue: time.nullable().describe("The last due time that started a run or was skipped."),
  lastRun: LastRun.extend({ due: time.nullable().describe("Null if the user started the run.") }).nullable(),
  lastSkipped: z.object({ due: time, at: time, reason: z.string() }).nullable(),
});
export type ScheduleView = z.infer<typeof Schedule>;

const Trigger = z.object({ ...about, lastRun: LastRun.nullable() });
export type TriggerView = z.infer<typeof Trigger>;

export const LaunchedRun = z.object({ orchestratorId: z.string(), status: RunStatus });

const CANNOT_BE_MADE = ["too_many_runs", "wrong_state", ...RUN_CANNOT_BE_MADE] as const;

export const SCHEDULE_ROUTES = {
  "GET /api/schedules": {
    summary: "Lists all schedules with their next due time, last run and last skipped due time.",
    query: IdPageQuery,
    response: z.array(Schedule),
    errors: [],
  },
  "POST /api/schedules/:name/run": {
    summary: "Starts a run of the schedule now.",
    response: LaunchedRun,
    status: 201,
    errors: ["not_found", ...CANNOT_BE_MADE],
  },
  "GET /api/triggers": {
    summary: "Lists all triggers with their last run.",
    query: IdPageQuery,
    response: z.array(Trigger),
    errors: [],
  },
  "POST /api/triggers/:name": {
    summary: "Fires a trigger. The request needs a signature instead of a token; the body may be any JSON.",
    body: z.unknown(),
    headers: {
      "X-Hub-Signature-256": "`sha256=` and the HMAC of the body in hexadecimal.",
      "X-Tutti-Signature": "`t=SECONDS,id=NAME,v1=HMAC of SECONDS.NAME.BODY`; the name is optional.",
    },
    response: LaunchedRun,
    status: 202,
    repeated: "The same delivery was received before and already has a run.",
    errors: CANNOT_BE_MADE,
    signed: true,
  },
} as const satisfies RouteTable;
