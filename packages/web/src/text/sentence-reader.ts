// The log holds sentences with their values, in English. `sentenceReader` finds the key of the catalogue that gave such a
// text, and fills its translation with the same values. Only pages in another language load it.
import { sentence } from "../../../tutti/src/sentence.ts";

export type SentenceMark = "#stored" | "#doctor";

/** Other values are names, or words of agents and users. */
const SAID_VALUES = /^(error|detail|until|advice|unit|role|found|version|use|problems|changes|where|files|names)$/;
/** Between sentences of a list within one value. */
const SEPARATOR = /(; |(?<=\.) (?=["\p{Lu}]))/u;
/** Task ids and times have no spaces, which keeps short sentences from matching other texts. */
const VALUE_PATTERNS: Readonly<Record<string, string>> = {
  taskId: String.raw`\S+`,
  task: String.raw`\S+`,
  time: String.raw`\S+`,
  tasks: String.raw`\S+?(?:(?:,| and) \S+?)*`,
};
/** Several open placeholders take quadratic time, and agents write parts of the sentences. */
export const LONGEST = 4000;

/** `sayValue` translates the `SAID_VALUES`. */
export function sentenceReader(texts: Readonly<Record<string, string>>) {
  const patterns = { "#stored": patternsOf(texts, "#stored"), "#doctor": patternsOf(texts, "#doctor") };
  return (text: string, mark: SentenceMark, sayValue: (value: string) => string): string => {
    if (text.length > LONGEST) return text;
    for (const [pattern, translation] of patterns[mark]) {
      const match = pattern.exec(text);
      if (match === null) continue;
      const values = Object.entries(match.groups ?? {}).map(([name, value]) => [
        name,
        // Sentences are only translated to French, which writes a decimal comma.
        name === "gigabytes" ? value.replace(".", ",") : SAID_VALUES.test(name) ? sayAll(value, sayValue) : value,
      ]);
      return sentence(translation, Object.fromEntries(values) as Record<string, string>);
    }
    return text;
  };
}

/** Translates the parts of a list if the whole is no sentence. */
function sayAll(value: string, sayValue: (value: string) => string): string {
  const whole = sayValue(value);
  return whole === value ? value.split(SEPARATOR).map(sayValue).join("") : whole;
}

/** The most specific pattern comes first. */
const patternsOf = (texts: Readonly<Record<string, string>>, mark: SentenceMark): [RegExp, string][] =>
  Object.entries(texts)
    .filter(([key]) => key.endsWith(mark))
    .toSorted(([a], [b]) => fixedLength(b) - fixedLength(a))
    .map(([key, translation]) => [patternOf(key.slice(0, -mark.length)), translation]);

const fixedLength = (key: string): number => key.replace(/\{\w+\}/g, "").length;

export function patternOf(english: string): RegExp {
  const escaped = english.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  const open = escaped.replace(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${VALUE_PATTERNS[name] ?? ".*?"})`);
  return new RegExp(`^${open}$`, "s");
}
