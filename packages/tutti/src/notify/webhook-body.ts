// What webhooks are sent.
import { createHmac } from "node:crypto";
import type { Told } from "./target.ts";
import type { Webhook } from "../schema/notification-settings.ts";

export function webhookBody(told: Told, format: Webhook["format"]): string {
  return JSON.stringify(format === "slack" ? slackBody(told) : jsonBody(told));
}

/** The documented form, which is also what a command reads; members may be added to it. */
export function jsonBody({ at, ...told }: Told): object {
  return { version: 1, ...told, at: new Date(at).toISOString() };
}

function slackBody({ title, text, request, run, url }: Told): object {
  const where = url === null ? `\`${run}\`` : `<${url}|${run}>`;
  const about = [...(request === null ? [] : [`_${escaped(request)}_`]), ...(run === "" ? [] : [where])];
  const lines = [`*${escaped(title)}*`, escaped(text), about.join("  ")].filter((line) => line !== "");
  // An address that an agent wrote is not to be fetched by anybody because it was told.
  return { text: lines.join("\n"), unfurl_links: false, unfurl_media: false };
}

/**
 * Slack gives meaning to what stands between < and >, such as <!channel>; these three are what it wants escaped. Those
 * that are only compatible also call people by a bare @, and know links and pictures written as [words](address); so
 * something that nobody sees is put in between. The same keeps an address from becoming a link.
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
