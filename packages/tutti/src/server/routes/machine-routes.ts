import { pageOf } from "../decode.ts";
import type { Handlers } from "../handler.ts";
import { mustHaveMachine, type Machine } from "../machine.ts";
import { sumUsage } from "./sum-usage.ts";
import type { Engine } from "../../engine/engine.ts";
import type { MACHINE_ROUTES } from "../../schema/api/machine-routes.ts";

interface MachineRouteOptions {
  engine: Engine;
  machine?: Machine | undefined;
}

export function machineHandlers({ engine, machine }: MachineRouteOptions): Handlers<keyof typeof MACHINE_ROUTES> {
  return {
    // Commands of agents and messages of programs may contain secrets, so `hideSecrets` applies to all roles.
    "GET /api/doctor": async () => engine.hideSecrets(await mustHaveMachine(machine).diagnose()),
    "GET /api/settings": () => engine.hideSecrets(mustHaveMachine(machine).settings()),
    "POST /api/notify/test": async () => {
      const targets = await mustHaveMachine(machine).testNotifications();
      return { ok: targets.length > 0 && targets.every(({ ok }) => ok), targets };
    },
    "GET /api/usage": async ({ query }) => {
      const { by, ...page } = query();
      return pageOf(await sumUsage(engine, by), page, ({ key }) => key);
    },
  };
}
