// `tutti notify test`: one notification to everybody who is set up, and what came of it.
import { ringTerminal } from "./bell.ts";
import { CONFIG_FILE, readNotifications, testNotifications } from "../main/settings.ts";
import type { Output } from "./output.ts";
import { TuttiError } from "../schema/error.ts";

export async function testNotify(output: Output): Promise<number> {
  const { bell } = readNotifications(output.dataDir);
  const tested = await testNotifications(output.dataDir);
  if (tested.length === 0) {
    const where = `notifications in ${CONFIG_FILE} of the data folder`;
    throw new TuttiError("usage", `nobody is set up to be told: see docs/notifications.md for ${where}`);
  }
  if (bell) ringTerminal(output);
  output.value({ ok: tested.every(({ ok }) => ok), targets: tested });
  for (const { target, ok, detail } of tested) output.result(`${ok ? "told" : "failed"}  ${target}: ${detail}`);
  return tested.every(({ ok }) => ok) ? 0 : 1;
}
