// `tutti schedules` and `tutti triggers`: what the server starts by itself.
import { findAddress } from "./find-address.ts";
import type { Output } from "./output.ts";
import { createCall, type CallRoute } from "../client/call-route.ts";
import { TuttiError } from "../schema/error.ts";

/** Only a server waits for due times and deliveries, so only a server can tell of them. */
async function openServer(output: Output): Promise<CallRoute> {
  const address = await findAddress(output);
  if (address) return createCall(address);
  throw new TuttiError(
    "server_unreachable",
    "schedules and triggers are a server's, and none works on this data folder: start one with tutti serve",
  );
}

export async function listSchedules(output: Output): Promise<number> {
  const schedules = await (await openServer(output))("GET /api/schedules");
  output.value(schedules);
  if (schedules.length === 0) output.line("no schedules: they stand in tutti.config.json of the data folder");
  for (const each of schedules) {
    const { name, cron, timeZone, enabled, nextDue, lastRun, lastSkipped, running, problem } = each;
    const next = enabled ? `next ${nextDue ?? "never"}` : "switched off";
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
  output.line(`it goes on at the server; look at it with: tutti attach ${id}`);
  return 0;
}

export async function listTriggers(output: Output): Promise<number> {
  const triggers = await (await openServer(output))("GET /api/triggers");
  output.value(triggers);
  if (triggers.length === 0) output.line("no triggers: they stand in tutti.config.json of the data folder");
  for (const { name, enabled, template, lastRun, running, problem } of triggers) {
    output.result(`${name}  ${template}  ${enabled ? `${running} running` : "switched off"}`);
    if (lastRun) output.result(`  last run ${lastRun.id}  ${lastRun.outcome ?? lastRun.status}  ${lastRun.createdAt}`);
    if (problem !== null) output.warn(`${name}: ${problem}`);
  }
  return 0;
}
