// What the person has set up to be told by: whether each of it can be used. Nothing is sent.
import { resolve } from "node:path";
import type { Check } from "./check.ts";
import { readUserConfig } from "../config/config.ts";
import { whyNotAllowed } from "../notify/webhook-target.ts";
import { asTuttiError } from "../schema/error.ts";

/** Nothing for somebody who has set up nothing. */
export function checkNotifications(dataDir: string, env: Readonly<NodeJS.ProcessEnv>): Check[] {
  try {
    const settings = readUserConfig(resolve(dataDir)).notifications;
    return (settings?.webhooks ?? []).map((webhook) => {
      const name = "notifications";
      const { host } = new URL(webhook.url);
      const refusal = whyNotAllowed(webhook, settings!);
      if (refusal !== null) {
        const advice = "Add the host there if you want it to be told; until then nothing is sent.";
        return { name, status: "warning", found: `webhook: ${refusal}`, advice };
      }
      const { secretEnv } = webhook;
      if (secretEnv !== undefined && !env[secretEnv]) {
        const advice = `Set ${secretEnv} where tutti is started; until then nothing is sent.`;
        return { name, status: "warning", found: `webhook ${host}: ${secretEnv} is not set here`, advice };
      }
      return { name, status: "ok", found: `webhook ${host}; to try it: tutti notify test` };
    });
  } catch (error) {
    return [{ name: "configuration", status: "warning", found: asTuttiError(error).message }];
  }
}
