import { ringTerminal } from "../terminal/bell.ts";
import { CONFIG_FILE } from "../../config/config.ts";
import { readNotifications, testNotifications } from "../../main/settings.ts";
import type { Output } from "../terminal/output.ts";
import { TuttiError } from "../../schema/error.ts";

export async function testNotify(output: Output): Promise<number> {
  const { bell } = readNotifications(output.dataDir);
  const results = await testNotifications(output.dataDir);
  if (results.length === 0) {
    const fix = `Add one under "notifications" in ${CONFIG_FILE} of the data folder; see docs/notifications.md.`;
    throw new TuttiError("usage", `No notification targets are configured. ${fix}`);
  }
  if (bell) ringTerminal(output);
  output.value({ ok: results.every(({ ok }) => ok), targets: results });
  for (const { target, ok, detail } of results) output.result(`${ok ? "sent" : "failed"}  ${target}: ${detail}`);
  return results.every(({ ok }) => ok) ? 0 : 1;
}
