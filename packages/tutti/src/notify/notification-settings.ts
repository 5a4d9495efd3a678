// `NotificationSettings` is a section of the user's configuration. A project's configuration cannot define targets.
import { z } from "zod";
import { variableName } from "../schema/api/query.ts";
import { NOTIFICATION_KINDS } from "../schema/notification.ts";

/** More than `MAX_WEBHOOKS` for one user are probably a mistake. */
const MAX_WEBHOOKS = 20;

const Webhook = z.strictObject({
  /** The URL often contains a secret, so only its host is ever displayed. */
  url: z.string().refine(isPlainAddress, "must be a URL that begins with https:// or http:// and contains no password"),
  format: z.enum(["slack", "json"]).default("json"),
  /** Names the environment variable with the secret that signs the requests. */
  secretEnv: variableName.optional(),
});
export type Webhook = z.infer<typeof Webhook>;

/** The value of `NotificationSettings.parse({})`, for which no schema has to be built. */
export const DEFAULT_NOTIFICATIONS = {
  on: [...NOTIFICATION_KINDS],
  webhooks: [],
  allowHosts: [],
  allowInternal: false,
  bell: true,
};

export const NotificationSettings = z
  .strictObject({
    on: z.array(z.enum(NOTIFICATION_KINDS)).default(DEFAULT_NOTIFICATIONS.on),
    webhooks: z.array(Webhook).max(MAX_WEBHOOKS).default(DEFAULT_NOTIFICATIONS.webhooks),
    /** Exact names of the hosts that `webhooks` may use. */
    allowHosts: z.array(z.string().min(1)).default(DEFAULT_NOTIFICATIONS.allowHosts),
    /** Allows `webhooks` to this machine and its networks, and without TLS. */
    allowInternal: z.boolean().default(DEFAULT_NOTIFICATIONS.allowInternal),
    command: z
      .string()
      .refine((text) => text.trim() !== "", "must name a program and its arguments")
      .optional(),
    bell: z.boolean().default(DEFAULT_NOTIFICATIONS.bell),
  })
  .superRefine(({ webhooks, allowInternal }, context) => {
    for (const [i, { url }] of webhooks.entries()) {
      if (allowInternal || !isPlainAddress(url) || new URL(url).protocol === "https:") continue;
      const message = "must begin with https:// unless allowInternal is true";
      context.addIssue({ code: "custom", path: ["webhooks", i, "url"], message });
    }
  });
export type NotificationSettings = z.infer<typeof NotificationSettings>;

function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
