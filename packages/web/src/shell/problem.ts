// What went wrong, as a sentence and what to do about it.
import { RequestError } from "../../../tutti/src/client/request-error.ts";

export interface Problem {
  title: string;
  advice: string;
}

export function describeProblem(error: unknown): Problem {
  if (!(error instanceof RequestError)) return { title: "Something went wrong in this page", advice: String(error) };
  if (error.code === "unreachable")
    return { title: "The server does not answer", advice: "Start it with tutti serve; this page goes on by itself." };
  if (error.code === "unauthorized" || error.code === "forbidden")
    return {
      title: "This browser is not signed in",
      advice: "Open the address that tutti serve printed, with its token.",
    };
  return { title: sentence(error.message), advice: error.code === "run_not_found" ? "It may have been deleted." : "" };
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
