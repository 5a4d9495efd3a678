// `translate` gives texts in the language of the page: the user's choice, or the first of the browser's languages that
// is known. English is in the sources. `french.json` has the French text of every English one: `translate` accepts only
// these, so a missing one does not compile. Sentences that Tutti itself says elsewhere are marked there: `#log` is one of
// `describeEvent`, `#stored` one that the log holds with its values, `#doctor` one of `tutti doctor`, `#template` the name
// or description of a built-in template. `#error` follows the code of an error. Words of agents and users stay as they
// are.
import type { sentenceReader } from "./sentence-reader.ts";
import { sentence, type Say } from "../../../tutti/src/sentence.ts";

export type Language = "en" | "fr";
export type Catalogue = typeof import("./french.json");
type EnglishText = keyof Catalogue;
type PlaceholderOf<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderOf<Rest>
  : never;
type ValuesOf<T extends string> = [PlaceholderOf<T>] extends [never] ? [] : [Record<PlaceholderOf<T>, string | number>];
/** The catalogue has the plural form of a `Noun`, too. */
export type Noun = { [T in EnglishText]: `${T}s` extends EnglishText ? T : never }[EnglishText];

export const LANGUAGE_KEY = "tutti-language";
let catalogue: Catalogue | null = null;
let read: ReturnType<typeof sentenceReader> = (text) => text;

export const language: Language = findLanguage();

/** Modules that call `translate` while they load must be loaded after `setCatalogue`. */
export function setCatalogue(texts: Catalogue, reader: typeof read): void {
  catalogue = texts;
  read = reader;
}

/** Replaces the `{name}` placeholders by `values`. A part after `#` only distinguishes meanings. */
export function translate<T extends EnglishText>(text: T, ...[values]: ValuesOf<T>): string {
  return sentence(catalogue?.[text] ?? text.replace(/#.*$/, ""), values);
}

/** For sentences of `describeEvent`, and without `values` for a text of the log, which may be such a sentence. */
export const say: Say = (text, values) => {
  const found = (catalogue as Readonly<Record<string, string>> | null)?.[`${text}#log`];
  return found === undefined && values === undefined ? read(text, "#stored", say) : sentence(found ?? text, values);
};

/** The translation of a sentence that the log holds with its values, with placeholders for them. */
export const sayTemplate = (text: string): string =>
  (catalogue as Readonly<Record<string, string>> | null)?.[`${text}#stored`] ?? text;

/** Null in English, in which the message of the server says more, and for codes of a newer server. */
export const sayError = (code: string): string | null =>
  (catalogue as Readonly<Record<string, string>> | null)?.[`${code}#error`] ?? null;

/** For sentences of `tutti doctor`. */
export const sayCheck = (text: string): string => read(text, "#doctor", sayCheck);

/** For the name or the description of a template, which may be built in. */
export const sayBuiltIn = (text: string): string =>
  (catalogue as Readonly<Record<string, string>> | null)?.[`${text}#template`] ?? text;

export const nounFor = (value: number, noun: Noun): string =>
  translate((value === 1 || (value === 0 && language === "fr") ? noun : `${noun}s`) as Noun);

function findLanguage(): Language {
  if (!("document" in globalThis)) return "en";
  const wanted = [storedLanguage() ?? "", ...navigator.languages].map((each) => each.slice(0, 2).toLowerCase());
  return wanted.find((each) => each === "en" || each === "fr") ?? "en";
}

function storedLanguage(): string | null {
  try {
    return localStorage.getItem(LANGUAGE_KEY);
  } catch {
    return null;
  }
}
