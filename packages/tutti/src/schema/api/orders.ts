// `ORDERS` lists every order to a run. Its route, the `order` of the client and of the engine, and the access of
// commands follow from this table; `engine/order-command.ts` maps an order to the command that the rules decide.
import { z } from "zod";
import { words } from "./query.ts";
import type { Route } from "./route.ts";
import { Done } from "./run-values.ts";
import { ChangedPlan, EditedPlan } from "../plan-changes.ts";
import { TaskId } from "../task.ts";

const GivenDecision = z
  .strictObject({
    index: z.number().int().min(0).describe("The `index` of the decision's inbox item."),
    option: z.number().int().min(0).optional(),
    text: words.optional(),
  })
  .refine(
    ({ option, text }) => (option === undefined) !== (text === undefined),
    "must have either an option or a text",
  );

const Confirmed = z.object({
  workersCreated: z.number().describe("Number of sessions started before this response."),
  tasksQueued: z.number().describe("Number of other tasks that are not skipped."),
  skipped: z.number(),
});

/** `path` follows `/api/orchestrator/:id/`. Without `response` the route answers `Done`. */
type OrderRow = Omit<Route, "response"> & { path: string; response?: z.ZodType };

/** Errors of an order with a `ChangedPlan` or an `EditedPlan`. */
const PLAN_ERRORS: OrderRow["errors"] = [
  "run_not_found",
  "wrong_state",
  "invalid_plan",
  "agent_unknown",
  "agent_not_startable",
  "invalid_scenario",
  "forbidden",
];

export const ORDERS = {
  start: {
    path: "start",
    summary: "Starts a created run.",
    errors: [
      "run_not_found",
      "wrong_state",
      "folder_not_found",
      "not_a_repository",
      "empty_repository",
      "repository_unusable",
    ],
  },
  pause: {
    path: "pause",
    summary: "Pauses a run.",
    errors: ["run_not_found", "wrong_state"],
  },
  resume: {
    path: "resume",
    summary: "Resumes a paused run.",
    errors: ["run_not_found", "wrong_state", "budget_exhausted"],
  },
  cancel: {
    path: "cancel",
    summary: "Cancels a run. Completed work stays.",
    errors: ["run_not_found", "wrong_state"],
  },
  confirm: {
    path: "confirm-tasks",
    summary: "Confirms the plan, with the changes in the body.",
    // `prefault` lets an empty body confirm the plan without changes.
    body: ChangedPlan.prefault({}),
    response: Confirmed,
    errors: PLAN_ERRORS,
  },
  edit: {
    path: "edit-plan",
    summary: "Changes the plan without confirming it. The user then reviews the changed plan.",
    body: EditedPlan,
    errors: PLAN_ERRORS,
  },
  confirmAhead: {
    path: "confirm-ahead",
    summary: "Confirms the plan now, or without a question as soon as there is a valid one.",
    errors: ["run_not_found"],
  },
  requestChanges: {
    path: "request-changes",
    summary: "Rejects the plan and requests the changes in `text`.",
    body: z.strictObject({ text: words }),
    errors: ["run_not_found", "wrong_state", "invalid_plan"],
  },
  decide: {
    path: "decisions",
    summary: "Answers decisions that merging needs.",
    body: z.strictObject({ decisions: z.array(GivenDecision).min(1) }),
    errors: ["run_not_found", "wrong_state"],
  },
  message: {
    path: "message",
    summary:
      "Sends a message to the worker of `taskId`, or to the main session. An agent that can receives it during its turn, else with its next turn.",
    body: z.strictObject({
      text: words,
      taskId: TaskId.optional(),
      now: z
        .boolean()
        .optional()
        .describe("Interrupts and resumes an agent that cannot receive messages during its turn."),
    }),
    errors: ["run_not_found", "task_not_found", "wrong_state"],
  },
  retry: {
    path: "retry",
    summary:
      "Retries a task that did not complete, or with `taskId: null` the phase that the main session did not complete. An ended run is reopened.",
    body: z.strictObject({ taskId: TaskId.nullable() }),
    errors: ["run_not_found", "task_not_found", "wrong_state", "gate_closed"],
  },
} as const satisfies Record<string, OrderRow>;

export type OrderName = keyof typeof ORDERS;
type OrderTable = typeof ORDERS;

/** `undefined` for an order without a body. */
export type OrderInput<Name extends OrderName> = OrderTable[Name] extends { body: infer B extends z.ZodType }
  ? z.input<B>
  : undefined;

/** The arguments after the name of an order; optional if its `OrderInput` is. */
export type OrderArguments<Name extends OrderName> =
  undefined extends OrderInput<Name> ? [input?: OrderInput<Name>] : [input: OrderInput<Name>];

export type OrderKey<Name extends OrderName> = `POST /api/orchestrator/:id/${OrderTable[Name]["path"]}`;

export const orderKey = <Name extends OrderName>(name: Name): OrderKey<Name> =>
  `POST /api/orchestrator/:id/${ORDERS[name].path}`;

type OrderRoutes = {
  [Name in OrderName as OrderKey<Name>]: Omit<OrderTable[Name], "path"> &
    (OrderTable[Name] extends { response: z.ZodType } ? object : { response: typeof Done });
};

export const ORDER_ROUTES = Object.fromEntries(
  Object.entries<OrderRow>(ORDERS).map(([name, { path: _path, ...route }]) => [
    orderKey(name as OrderName),
    { response: Done, ...route },
  ]),
) as unknown as OrderRoutes;
