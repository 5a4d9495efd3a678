import { resolve } from "node:path";
import type { Check } from "./check.ts";
import { readUserConfig } from "../config/config.ts";
import { whyNotAllowed } from "../notify/webhook-target.ts";
import { asTuttiError } from "../schema/error.ts";

/** Checks each of the `webhooks` without sending anything. */
export function checkNotifications(dataDir: string, env: Readonly<NodeJS.ProcessEnv>): Check[] {
  try {
    const settings = readUserConfig(resolve(dataDir)).notifications;
    return (settings?.webhooks ?? []).map((webhook) => {
      const name = "notifications";
      const { host } = new URL(webhook.url);
      const refusal = whyNotAllowed(webhook, settings!);
      if (refusal !== null) {
        const advice = "Add the host there to allow it. Until then nothing is sent to it.";
        return { name, status: "warning", found: `webhook: ${refusal}`, advice };
      }
      const { secretEnv } = webhook;
      if (secretEnv !== undefined && !env[secretEnv]) {
        const advice = `Set ${secretEnv} in the environment of tutti. Until then nothing is sent.`;
        return { name, status: "warning", found: `webhook ${host}: ${secretEnv} is not set`, advice };
      }
      return { name, status: "ok", found: `webhook ${host}; test it with: tutti notify test` };
    });
  } catch (error) {
    return [{ name: "configuration", status: "warning", found: asTuttiError(error).message }];
  }
}
