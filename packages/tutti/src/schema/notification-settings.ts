// What a person may say about notifications in their own configuration. A project's names no targets.
import { z } from "zod";
import { NOTIFICATION_KINDS } from "./notification.ts";

/** Many tools of a team can take a webhook; more than a few for one person is a mistake. */
const MAX_WEBHOOKS = 20;

const Webhook = z.strictObject({
  /** Often a secret in itself; it is shown nowhere but for its host. */
  url: z.string().refine(isPlainAddress, "an address that begins with https:// or http:// and holds no password"),
  format: z.enum(["slack", "json"]).default("json"),
  /** The variable of the environment that holds the secret which what is sent is signed with. */
  secretEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable")
    .optional(),
});
export type Webhook = z.infer<typeof Webhook>;

export const NotificationSettings = z
  .strictObject({
    on: z.array(z.enum(NOTIFICATION_KINDS)).default([...NOTIFICATION_KINDS]),
    webhooks: z.array(Webhook).max(MAX_WEBHOOKS).default([]),
    /** The hosts that webhooks may go to, by their exact names. */
    allowHosts: z.array(z.string().min(1)).default([]),
    /** Whether webhooks may go to this machine and its networks, and without TLS. */
    allowInternal: z.boolean().default(false),
    command: z
      .string()
      .refine((text) => text.trim() !== "", "a program and its arguments")
      .optional(),
    bell: z.boolean().default(true),
  })
  .superRefine(({ webhooks, allowInternal }, context) => {
    for (const [i, { url }] of webhooks.entries()) {
      if (allowInternal || !isPlainAddress(url) || new URL(url).protocol === "https:") continue;
      const message = "only https:// unless allowInternal is true";
      context.addIssue({ code: "custom", path: ["webhooks", i, "url"], message });
    }
  });
export type NotificationSettings = z.infer<typeof NotificationSettings>;

function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
