import { createHmac } from "node:crypto";
import type { OutgoingNotification } from "./target.ts";
import type { Webhook } from "./notification-settings.ts";

export function webhookBody(message: OutgoingNotification, format: Webhook["format"]): string {
  return JSON.stringify(format === "slack" ? slackBody(message) : jsonBody(message));
}

/** The documented format of webhooks and of a command's stdin. New members may be added to it. */
export function jsonBody({ at, ...rest }: OutgoingNotification): object {
  return { version: 1, ...rest, at: new Date(at).toISOString() };
}

function slackBody({ title, text, request, run, url }: OutgoingNotification): object {
  const where = url === null ? `\`${run}\`` : `<${url}|${run}>`;
  const about = [...(request === null ? [] : [`_${escaped(request)}_`]), ...(run === "" ? [] : [where])];
  const lines = [`*${escaped(title)}*`, escaped(text), about.join("  ")].filter((line) => line !== "");
  // `unfurl_links`: Slack must not fetch a URL that an agent wrote.
  return { text: lines.join("\n"), unfurl_links: false, unfurl_media: false };
}

/**
 * Slack interprets text between `<` and `>`, such as `<!channel>`, and requires `&`, `<` and `>` to be escaped. Compatible
 * servers also expand a bare `@name` and Markdown links and images such as `[text](url)`. A zero-width space breaks those,
 * and also keeps a URL from becoming a link.
 */
const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/@(?=[\p{L}\p{N}])/gu, "@\u200b")
    .replaceAll("](", "]\u200b(")
    .replaceAll("://", ":\u200b//");

export const signatureOf = (body: string, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
