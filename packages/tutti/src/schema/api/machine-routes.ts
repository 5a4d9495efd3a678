import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Usage } from "../outcome.ts";

export const MachineCheck = z.object({
  name: z.string(),
  status: z.enum(["ok", "warning", "missing"]).describe("`missing` includes things that exist but cannot be used."),
  found: z.string(),
  advice: z.string().optional(),
});

const Settings = z.object({
  version: z.string(),
  dataDir: z.string(),
  agent: z.string().nullable().describe("Agent of runs, unless a request or a template names one."),
  template: z.string().nullable().describe("Template of `tutti run` without `--template`."),
  maxWorkers: z.number().nullable(),
  agents: z.array(z.object({ name: z.string(), agent: z.string() })).describe("The user's own agents."),
  folders: z.array(z.string()).nullable().describe("Folders that runs may use. Null allows all."),
  rateLimit: z.number().nullable().describe("Requests per minute from one address."),
  maxOutputMb: z.number().nullable(),
  retention: z.object({ days: z.number().optional(), keepRuns: z.number().optional() }).nullable(),
  notifications: z.object({
    on: z.array(z.string()),
    targets: z.array(z.string()).describe("Names of the targets, without the secret parts of their addresses."),
    bell: z.boolean(),
  }),
});
export type Settings = z.infer<typeof Settings>;

const TestedTarget = z.object({ target: z.string(), ok: z.boolean(), detail: z.string() });

const USAGE_GROUPS = ["day", "run", "agent", "model", "template", "repository"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const UsageRow = z.object({
  key: z
    .string()
    .describe("A date in UTC, an id, a name or a folder. The model is `default` where the agent chooses it."),
  runs: z.number().describe("Number of runs with a turn in this row."),
  turns: z.number(),
  ...Usage.shape,
});
export type UsageRow = z.infer<typeof UsageRow>;

export const MACHINE_ROUTES = {
  "GET /api/doctor": {
    summary: "Checks what is installed on the server's machine, as `tutti doctor` does.",
    response: z.object({
      ok: z.boolean().describe("Whether Tutti can work there."),
      checks: z.array(MachineCheck),
    }),
    errors: ["not_found"],
    // The checks name files and folders of the user.
    role: "operate",
  },
  "GET /api/settings": {
    summary: "Returns the settings of the server and its user, without secrets.",
    response: Settings,
    errors: ["not_found", "usage"],
    role: "operate",
  },
  "POST /api/notify/test": {
    summary: "Sends a test notification to every configured target.",
    response: z.object({
      ok: z.boolean().describe("False if a delivery failed or no target is configured."),
      targets: z.array(TestedTarget),
    }),
    errors: ["not_found", "usage"],
  },
  "GET /api/usage": {
    summary: "Returns the tokens and costs of all runs, summed by `by`. `after` is a `key`.",
    query: IdPageQuery.extend({ by: z.enum(USAGE_GROUPS).default("day") }),
    response: z.array(UsageRow),
    errors: [],
  },
} as const satisfies RouteTable;
