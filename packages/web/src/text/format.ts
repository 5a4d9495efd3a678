import { language, nounFor, translate, type Noun } from "./language.ts";

const NUMBER = new Intl.NumberFormat(language);
const COMPACT = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const MONEY = new Intl.NumberFormat(language, { style: "currency", currency: "USD", minimumFractionDigits: 2 });
const DAY = new Intl.DateTimeFormat(language, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const count = (value: number): string => NUMBER.format(value);
export const compact = (value: number): string => COMPACT.format(value);
export const money = (usd: number): string => MONEY.format(usd);
export const plural = (value: number, noun: Noun): string => `${count(value)} ${nounFor(value, noun)}`;

export function duration(ms: number): string {
  if (ms > 0 && ms < 1000) return "<1s";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours > 0) return `${hours}h ${pad(minutes % 60)}m`;
  return minutes > 0 ? `${minutes}m ${pad(seconds % 60)}s` : `${seconds}s`;
}

/** Empty for a time that a newer server writes in another way. */
export function ago(at: number, now: number): string {
  if (!Number.isFinite(at)) return "";
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return translate("just now");
  if (minutes < 60) return translate("{minutes} min ago", { minutes });
  if (minutes < 24 * 60) return translate("{hours} h ago", { hours: Math.floor(minutes / 60) });
  return DAY.format(at);
}

export const clock = (at: number): string => CLOCK.format(at);
export const moment = (at: number): string => new Date(at).toLocaleString(language, { hourCycle: "h23" });

export const lastPart = (path: string): string => path.split("/").findLast((part) => part !== "") ?? path;

/** Shortens `command:/usr/bin/my-agent --fast` to `command:my-agent`. URLs stay whole. */
export function agentName(agent: string): string {
  const [, kind, rest] = /^([a-z]+):(\S+)/.exec(agent) ?? [];
  return kind && rest ? `${kind}:${rest.includes("//") ? rest : lastPart(rest)}` : agent;
}

const pad = (value: number): string => String(value).padStart(2, "0");
