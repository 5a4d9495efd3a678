import { pageOf, readBytes } from "../decode.ts";
import type { Handlers } from "../handler.ts";
import type { OpenAutomation } from "../../schedule/automation.ts";
import type { Launched } from "../../schedule/run-launcher.ts";
import type { SCHEDULE_ROUTES } from "../../schema/api/schedule-routes.ts";
import { TuttiError } from "../../schema/error.ts";

/** Without `automation` the lists are empty and every name is unknown. */
export function scheduleHandlers(automation: OpenAutomation | undefined): Handlers<keyof typeof SCHEDULE_ROUTES> {
  return {
    "GET /api/schedules": ({ query }) => pageOf(automation?.schedules.list() ?? [], query(), ({ name }) => name),
    "POST /api/schedules/:name/run": async ({ params: { name } }) => {
      if (!automation)
        throw new TuttiError("not_found", `Schedule "${name}" does not exist. List schedules with "tutti schedules".`);
      return encode(await automation.schedules.runNow(name));
    },
    "GET /api/triggers": ({ query }) => pageOf(automation?.triggers.list() ?? [], query(), ({ name }) => name),
    "POST /api/triggers/:name": async ({ params: { name }, context }) => {
      if (!automation)
        throw new TuttiError(
          "unauthorized",
          'This server has no triggers. Send the delivery to a server started with "tutti serve".',
        );
      const { req } = context;
      const signatures = { hub: req.header("x-hub-signature-256"), tutti: req.header("x-tutti-signature") };
      // The signature covers the raw bytes, so `readBytes` does not parse the body.
      const launched = await automation.triggers.deliver(name, signatures, await readBytes(context.req.raw));
      return launched.isNew ? encode(launched) : context.json(encode(launched), 200);
    },
  };
}

const encode = ({ run, status }: Launched) => ({ orchestratorId: run, status });
