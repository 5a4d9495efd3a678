import { findAddress } from "../access/find-address.ts";
import type { Output } from "../terminal/output.ts";
import { createCall, type CallRoute } from "../../client/call-route.ts";
import { TuttiError } from "../../schema/error.ts";

/** Only a server starts runs of schedules and triggers, and knows their state. */
async function openServer(output: Output): Promise<CallRoute> {
  const address = await findAddress(output);
  if (address) return createCall(address);
  throw new TuttiError(
    "server_unreachable",
    'Schedules and triggers need a server, and none runs on this data folder. Start one with "tutti serve".',
  );
}

export async function listSchedules(output: Output): Promise<number> {
  const schedules = await (await openServer(output))("GET /api/schedules");
  output.value(schedules);
  if (schedules.length === 0)
    output.line('No schedules. Add them under "schedules" in tutti.config.json of the data folder.');
  for (const each of schedules) {
    const { name, cron, timeZone, enabled, nextDue, lastRun, lastSkipped, running, problem } = each;
    const next = enabled ? `next ${nextDue ?? "never"}` : "disabled";
    output.result(`${name}  ${cron} ${timeZone}  ${next}  ${running} running`);
    if (lastRun) output.result(`  last run ${lastRun.id}  ${lastRun.outcome ?? lastRun.status}  ${lastRun.createdAt}`);
    if (lastSkipped) output.result(`  skipped ${lastSkipped.due}: ${lastSkipped.reason}`);
    if (problem !== null) output.warn(`${name}: ${problem}`);
  }
  return 0;
}

export async function runSchedule(output: Output, name: string): Promise<number> {
  const { orchestratorId: id, status } = await (
    await openServer(output)
  )("POST /api/schedules/:name/run", {
    params: { name },
  });
  output.value({ id, status });
  output.result(id);
  output.line(`The run continues on the server. Follow it with: tutti attach ${id}`);
  return 0;
}

export async function listTriggers(output: Output): Promise<number> {
  const triggers = await (await openServer(output))("GET /api/triggers");
  output.value(triggers);
  if (triggers.length === 0)
    output.line('No triggers. Add them under "triggers" in tutti.config.json of the data folder.');
  for (const { name, enabled, template, lastRun, running, problem } of triggers) {
    output.result(`${name}  ${template}  ${enabled ? `${running} running` : "disabled"}`);
    if (lastRun) output.result(`  last run ${lastRun.id}  ${lastRun.outcome ?? lastRun.status}  ${lastRun.createdAt}`);
    if (problem !== null) output.warn(`${name}: ${problem}`);
  }
  return 0;
}
