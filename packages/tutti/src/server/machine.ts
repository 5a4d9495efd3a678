// A `Machine` is behind the server. The composition root implements it, because checks, notifications and rehearsals
// need modules that the server does not import.
import type { z } from "zod";
import type { MachineCheck, Settings } from "../schema/api/machine-routes.ts";
import type { RehearseRequest, Rehearsal } from "../schema/api/template-routes.ts";
import { TuttiError } from "../schema/error.ts";
import type { Template } from "../schema/template.ts";

export interface Machine {
  diagnose(): Promise<{ ok: boolean; checks: z.infer<typeof MachineCheck>[] }>;
  settings(): Settings;
  testNotifications(): Promise<{ target: string; ok: boolean; detail: string }[]>;
  rehearse(template: Template, request: RehearseRequest): Promise<Rehearsal>;
}

/** Throws `not_found` for a server that was started without a `machine`, such as one inside another program. */
export function mustHaveMachine(machine: Machine | undefined): Machine {
  if (machine) return machine;
  throw new TuttiError(
    "not_found",
    'This server has no access to its machine. Use a server started with "tutti serve".',
  );
}
