// A webhook as a target: whether it may be used at all, and what it is sent.
import { createHash } from "node:crypto";
import type { Surroundings, Target } from "./target.ts";
import { signatureOf, webhookBody } from "./webhook-body.ts";
import type { NotificationSettings, Webhook } from "../schema/notification-settings.ts";

type Rules = Pick<NotificationSettings, "allowHosts" | "allowInternal">;

/** Why nothing may be sent there, in words for the person; null if it may. */
export function whyNotAllowed({ url }: Webhook, { allowHosts }: Rules): string | null {
  const { hostname } = new URL(url);
  const names = allowHosts.map((host) => bare(host.toLowerCase()));
  return names.includes(bare(hostname)) ? null : `${hostname} is not among notifications.allowHosts`;
}

/** An address of IPv6 without its brackets. */
const bare = (host: string): string => host.replaceAll(/[[\]]/g, "");

/** The path and the query of the address are left out of its name: whoever knows them can send there too. */
export function webhookTarget(webhook: Webhook, rules: Rules, { env, world }: Surroundings): Target {
  const url = new URL(webhook.url);
  return {
    name: `webhook ${url.host}`,
    key: `webhook ${createHash("sha256").update(`${webhook.format} ${url.href}`).digest("hex").slice(0, 16)}`,
    sums: webhook.format === "slack",
    async tell(told, signal) {
      const refusal = whyNotAllowed(webhook, rules);
      if (refusal !== null) return { ok: false, detail: refusal };
      const { secretEnv } = webhook;
      const secret = secretEnv === undefined ? null : (env[secretEnv] ?? "");
      // Whoever expects a signature is not sent anything without one.
      if (secret === "") return { ok: false, detail: `the variable ${secretEnv} with its secret is not set` };
      const body = webhookBody(told, webhook.format);
      const headers = {
        "x-tutti-notification": told.id,
        ...(secret === null ? {} : { "x-tutti-signature": signatureOf(body, secret) }),
      };
      // Loaded here, because hardly a command sends anything.
      const { postWebhook } = await import("./post-webhook.ts");
      return postWebhook({ url, body, headers, allowInternal: rules.allowInternal, now: world.now(), signal });
    },
  };
}
