import { sayError, translate } from "../text/language.ts";
import { RequestError } from "../../../tutti/src/client/request-error.ts";
import { capitalize } from "../../../tutti/src/sentence.ts";

interface PageProblem {
  title: string;
  advice: string;
}

export function describeProblem(error: unknown): PageProblem {
  if (!(error instanceof RequestError))
    return { title: translate("This page has an internal error"), advice: String(error) };
  if (isUnreachable(error))
    return {
      title: translate("The server does not respond"),
      advice: translate('Start it with "tutti serve". This page reconnects by itself.'),
    };
  if (error.code === "unauthorized")
    return {
      title: translate("This browser is not signed in"),
      advice: translate('Open the URL that "tutti serve" printed. It contains the token.'),
    };
  const sentence = sayError(error.code);
  if (sentence !== null) return { title: sentence, advice: capitalize(error.message) };
  return {
    title: capitalize(error.message),
    advice: error.code === "run_not_found" ? translate("It may have been deleted.") : "",
  };
}

export const isUnreachable = (error: unknown): boolean => error instanceof RequestError && error.code === "unreachable";

export const withPeriod = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
