import { resolve } from "node:path";
import { ok, warning, type Check } from "./check.ts";
import { readUserConfig } from "../config/config.ts";
import { whyNotAllowed } from "../notify/webhook-target.ts";
import { asTuttiError } from "../schema/error.ts";
import { sentence } from "../sentence.ts";

/** Checks each of the `webhooks` without sending anything. */
export function checkNotifications(dataDir: string, env: Readonly<NodeJS.ProcessEnv>): Check[] {
  try {
    const settings = readUserConfig(resolve(dataDir)).notifications;
    return (settings?.webhooks ?? []).map((webhook) => {
      const name = sentence("notifications");
      const { host } = new URL(webhook.url);
      const refusal = whyNotAllowed(webhook, settings!);
      if (refusal !== null) {
        const advice = sentence("Add the host there to allow it. Until then nothing is sent to it.");
        return warning(name, sentence("webhook: {detail}", { detail: refusal }), advice);
      }
      const { secretEnv } = webhook;
      if (secretEnv !== undefined && !env[secretEnv]) {
        const advice = sentence("Set {variable} in the environment of tutti. Until then nothing is sent.", {
          variable: secretEnv,
        });
        return warning(name, sentence("webhook {host}: {variable} is not set", { host, variable: secretEnv }), advice);
      }
      return ok(name, sentence("webhook {host}; test it with: tutti notify test", { host }));
    });
  } catch (error) {
    return [warning("configuration", asTuttiError(error).message)];
  }
}
