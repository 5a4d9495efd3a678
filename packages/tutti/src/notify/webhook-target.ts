import { createHash } from "node:crypto";
import type { TargetContext, NotificationTarget } from "./target.ts";
import { signatureOf, webhookBody } from "./webhook-body.ts";
import type { NotificationSettings, Webhook } from "./notification-settings.ts";

type Rules = Pick<NotificationSettings, "allowHosts" | "allowInternal">;

/** Returns the reason for the user, or null if `allowHosts` has the host. */
export function whyNotAllowed({ url }: Webhook, { allowHosts }: Rules): string | null {
  const { hostname } = new URL(url);
  const names = allowHosts.map((host) => bare(host.toLowerCase()));
  return names.includes(bare(hostname)) ? null : `${hostname} is not among notifications.allowHosts`;
}

const bare = (host: string): string => host.replaceAll(/[[\]]/g, "");

/** `name` leaves out the path and query of the URL: they act as the password of the webhook. */
export function webhookTarget(webhook: Webhook, rules: Rules, { env, world }: TargetContext): NotificationTarget {
  const url = new URL(webhook.url);
  return {
    name: `webhook ${url.host}`,
    key: `webhook ${createHash("sha256").update(`${webhook.format} ${url.href}`).digest("hex").slice(0, 16)}`,
    combines: webhook.format === "slack",
    async deliver(message, signal) {
      const refusal = whyNotAllowed(webhook, rules);
      if (refusal !== null) return { ok: false, detail: refusal };
      const { secretEnv } = webhook;
      const secret = secretEnv === undefined ? null : (env[secretEnv] ?? "");
      // Fail closed: a receiver that expects a signature gets no unsigned request.
      if (secret === "") {
        return { ok: false, detail: `the environment variable ${secretEnv} with the secret is not set` };
      }
      const body = webhookBody(message, webhook.format);
      const headers = {
        "x-tutti-notification": message.id,
        ...(secret === null ? {} : { "x-tutti-signature": signatureOf(body, secret) }),
      };
      // `postWebhook` is imported lazily, because few commands of the CLI send a notification.
      const { postWebhook } = await import("./post-webhook.ts");
      return postWebhook({ url, body, headers, allowInternal: rules.allowInternal, now: world.now(), signal });
    },
  };
}
