import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, time } from "./run-values.ts";

const HostRow = z.object({
  id: z.string().describe("Stays the same over restarts of the host."),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  capacity: z.number().describe("The most sessions at a time."),
  version: z.string(),
  agents: z.array(z.string()).describe("Built-in agents whose programs are installed there."),
  state: z.enum(["ready", "draining", "lost"]).describe("`lost` if the host has not renewed its lease."),
  tasks: z.array(z.string()).describe("Ids of the tasks that the host works on."),
  sessions: z.number().describe("Sessions on the host, with those of main agents."),
  seenAt: time.nullable().describe("Null for a host that was added and has not connected yet."),
});
export type HostRow = z.infer<typeof HostRow>;

export const HOST_ROUTES = {
  "GET /api/hosts": {
    summary: "Lists the worker hosts. Empty for a server without a database for several machines.",
    query: IdPageQuery,
    response: z.array(HostRow),
    errors: [],
  },
  "POST /api/hosts/:id/drain": {
    summary: "Gives a host no more work; its sessions finish. `id` is its id or its name.",
    response: Done,
    errors: ["host_not_found"],
    role: "admin",
  },
  "DELETE /api/hosts/:id/drain": {
    summary: "Undoes a drain: the host gets work again. `id` is its id or its name.",
    response: Done,
    errors: ["host_not_found"],
    role: "admin",
  },
  "DELETE /api/hosts/:id": {
    summary: "Removes a host and its login. Its work is retried elsewhere. `id` is its id or its name.",
    response: Done,
    errors: ["host_not_found", "database_refused"],
    role: "admin",
  },
} as const satisfies RouteTable;
