import { RequestError } from "../../../tutti/src/client/request-error.ts";

export interface PageProblem {
  title: string;
  advice: string;
}

export function describeProblem(error: unknown): PageProblem {
  if (!(error instanceof RequestError)) return { title: "This page has an internal error", advice: String(error) };
  if (error.code === "unreachable")
    return {
      title: "The server does not respond",
      advice: 'Start it with "tutti serve". This page reconnects by itself.',
    };
  if (error.code === "unauthorized" || error.code === "forbidden")
    return {
      title: "This browser is not signed in",
      advice: 'Open the URL that "tutti serve" printed. It contains the token.',
    };
  return { title: sentence(error.message), advice: error.code === "run_not_found" ? "It may have been deleted." : "" };
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const withPeriod = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
