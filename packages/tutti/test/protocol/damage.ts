// Known ways in which agents damage JSON. Each rewrites tokens while a message is written, or changes the text.
import { pick } from "./random-message.ts";
import type { Random } from "../lab/random.ts";
import type { Message } from "./random-message.ts";

type Place = "key" | "member" | "element";

/** The functions that write a message. Each may change its input; by default they write plain JSON. */
interface Style {
  string(text: string, place: Place, random: Random): string | null;
  scalar(written: string, random: Random): string;
  colon(random: Random, value: unknown): string;
  comma(place: "member" | "element", random: Random, next: unknown): string;
  lastComma(place: "member" | "element"): string;
  open(place: "member" | "element"): string;
  close(place: "member" | "element"): string;
  space(written: string, random: Random): string;
}

export interface Damage {
  name: string;
  /** The expected reading: the original message, or a part of it that is marked as truncated. */
  expect: "message" | "truncated";
  /** Only one damage of a group can be applied at a time. */
  group?: string;
  style?: Partial<Style>;
  text?(written: string, random: Random): string;
}

const PLAIN: Style = {
  string: () => null,
  scalar: (written) => written,
  colon: () => ": ",
  comma: () => ",",
  lastComma: () => "",
  open: (place) => (place === "member" ? "{" : "["),
  close: (place) => (place === "member" ? "}" : "]"),
  space: (written) => written,
};

export function damaged(message: Message, damages: readonly Damage[], random: Random): string {
  const style: Style = Object.assign({}, PLAIN, ...damages.map((damage) => damage.style ?? {}));
  const written = write(message, "", "member", style, random);
  return damages.reduce((text, damage) => damage.text?.(text, random) ?? text, written);
}

function write(value: unknown, indent: string, place: Place, style: Style, random: Random): string {
  if (typeof value === "string") return style.string(value, place, random) ?? JSON.stringify(value);
  if (typeof value !== "object" || value === null) return style.scalar(JSON.stringify(value), random);
  const inside: Place = Array.isArray(value) ? "element" : "member";
  const deeper = `${indent}  `;
  const entries: [string, unknown][] = Object.entries(value);
  const written = entries.map(([key, member], index) => {
    const entry = write(member, deeper, inside, style, random);
    const next = entries[index + 1]?.[1];
    const comma = index === entries.length - 1 ? style.lastComma(inside) : style.comma(inside, random, next);
    const name = style.string(key, "key", random) ?? JSON.stringify(key);
    return (
      style.space(`\n${deeper}`, random) +
      (inside === "member" ? name + style.colon(random, member) + entry : entry) +
      comma
    );
  });
  const end = written.length === 0 ? "" : style.space(`\n${indent}`, random);
  return style.open(inside) + written.join("") + end + style.close(inside);
}

const escapedFor = (quote: string, text: string): string =>
  quote + JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`) + quote;
const isName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
const isToken = (text: string): boolean =>
  /^[A-Za-z_][A-Za-z0-9_./-]*(?::[0-9-]+)?$/.test(text) &&
  !/^(?:true|false|null|undefined|nil|[Nn]a?[Nn]|None)$/.test(text);
const isClean = (text: string): boolean => !/["\\\n\t]/.test(text) && text.trim() === text && text !== "";
/** Matches quotes around words only, so that a reader can see which quotes are pairs. */
const hasPairedQuotes = (text: string): boolean => /^[^"\\\n]*(?: "[\w ]+"(?= )[^"\\\n]*)+$/.test(text);
const sometimes = (random: Random): boolean => random() < 0.4;

const quoted = (name: string, repairs: Style["string"]): Damage => ({
  name,
  expect: "message",
  group: "quotes",
  style: { string: repairs },
});
const between = (name: string, made: (written: string, random: Random) => string): Damage => ({
  name,
  expect: "message",
  group: "space",
  style: { space: (written, random) => (sometimes(random) ? made(written, random) : written) },
});
const around = (
  name: string,
  text: (written: string, random: Random) => string,
  expect: Damage["expect"] = "message",
) => ({
  name,
  expect,
  group: "around",
  text,
});

export const DAMAGES: readonly Damage[] = [
  { name: "trailing commas", expect: "message", group: "last", style: { lastComma: () => "," } },
  {
    name: "trailing commas in objects",
    expect: "message",
    group: "last",
    style: { lastComma: (p) => (p === "member" ? "," : "") },
  },
  { name: "double trailing commas", expect: "message", group: "last", style: { lastComma: () => ",," } },
  quoted("unquoted keys", (text, place) => (place === "key" && isName(text) ? text : null)),
  quoted("single-quoted keys", (text, place) => (place === "key" ? `'${text}'` : null)),
  quoted("single quotes", (text) => escapedFor("'", text)),
  quoted("some single quotes", (text, _place, random) => (sometimes(random) ? escapedFor("'", text) : null)),
  quoted("single quotes with bare apostrophes", (text) =>
    /\w'\w/.test(text) && !/(?:^|\W)'|'(?:\W|$)/.test(text) ? `'${text.replaceAll("\n", "\\n")}'` : null,
  ),
  quoted("Python strings", (text) => (text.includes("'") && !text.includes('"') ? null : escapedFor("'", text))),
  quoted("unquoted values", (text, place) => (place !== "key" && isToken(text) ? text : null)),
  quoted("unquoted keys and values", (text, place) => (place === "key" ? text : isToken(text) ? text : null)),
  quoted("typographic quotes", (text, place) =>
    isClean(text) && !/[“”]/.test(text) ? `“${text}”` : place ? null : null,
  ),
  quoted("backticks", (text, place) => (place === "key" ? null : escapedFor("`", text))),
  quoted("triple quotes", (text, place) => (place !== "key" && isClean(text) ? `"""${text}"""` : null)),
  quoted("Python u-strings", (text, place) => (place === "key" ? null : `u${escapedFor("'", text)}`)),
  quoted("unescaped quotes in texts", (text, place) => (place !== "key" && hasPairedQuotes(text) ? `"${text}"` : null)),
  quoted("unescaped backslashes", (text) =>
    text.includes("\\") && !/[\n\t"]|\\[bfnrtu"\\/]|\\$/.test(text) ? `"${text}"` : null,
  ),
  quoted("escaped apostrophes", (text) => (text.includes("'") ? JSON.stringify(text).replaceAll("'", "\\'") : null)),
  quoted("raw line breaks in texts", (text) => JSON.stringify(text).replaceAll(/(?<!\\)\\n/g, "\n")),
  quoted("raw tabs in texts", (text) => JSON.stringify(text).replaceAll(/(?<!\\)\\t/g, "\t")),
  quoted("backslash and line break in texts", (text) => JSON.stringify(text).replaceAll(/(?<!\\)\\n/g, "\\\n")),
  quoted("joined strings", (text, place) => {
    const half = text.indexOf(" ");
    return place === "key" || half < 1
      ? null
      : `${JSON.stringify(text.slice(0, half))} + ${JSON.stringify(text.slice(half))}`;
  }),
  quoted("keys without opening quote", (text, place, random) =>
    place === "key" && sometimes(random) ? `${text}"` : null,
  ),
  quoted("keys without closing quote", (text, place, random) =>
    place === "key" && sometimes(random) ? `"${text}` : null,
  ),
  quoted("values without opening quote", (text, place) => (place === "member" && isToken(text) ? `${text}"` : null)),
  quoted("values without closing quote", (text, place) => (place === "member" && isToken(text) ? `"${text}` : null)),
  between("line comments", (written) => ` // it's a "note": {${written}`),
  between("block comments", (written) => `${written}/* "x": [1, */ `),
  between("hash comments", (written) => ` # don't, "x": }${written}`),
  between("non-breaking spaces", (written) => written.replaceAll(" ", "\u00a0")),
  between("zero-width characters", (written) => `${written}\u200b`),
  between("terminal colours", (written) => `${written}\u001b[32m`),
  between("escaped line breaks between values", (written) => written.replaceAll("\n", "\\n")),
  {
    name: "missing commas at line ends",
    expect: "message",
    group: "comma",
    style: { comma: (_p, random) => (sometimes(random) ? "" : ",") },
  },
  {
    name: "double commas",
    expect: "message",
    group: "comma",
    style: { comma: (_p, random) => (sometimes(random) ? ",," : ",") },
  },
  {
    name: "semicolons for commas",
    expect: "message",
    group: "comma",
    style: { comma: (_p, random) => (sometimes(random) ? ";" : ",") },
  },
  { name: "full-width commas", expect: "message", group: "comma", style: { comma: () => "，" } },
  {
    name: "missing colons",
    expect: "message",
    group: "colon",
    style: {
      colon: (random, value) => (sometimes(random) && (typeof value === "string" || Array.isArray(value)) ? " " : ": "),
    },
  },
  {
    name: "equals signs for colons",
    expect: "message",
    group: "colon",
    style: { colon: (random) => (sometimes(random) ? " = " : ": ") },
  },
  { name: "arrows for colons", expect: "message", group: "colon", style: { colon: () => " => " } },
  { name: "full-width colons", expect: "message", group: "colon", style: { colon: () => "：" } },
  { name: "leading commas", expect: "message", group: "open", style: { open: (p) => (p === "member" ? "{" : "[,") } },
  {
    name: "tuples for lists",
    expect: "message",
    group: "open",
    style: { open: (p) => (p === "member" ? "{" : "("), close: (p) => (p === "member" ? "}" : ")") },
  },
  { name: "lists not closed", expect: "message", group: "open", style: { close: (p) => (p === "member" ? "}" : "") } },
  {
    name: "Python literals",
    expect: "message",
    group: "scalar",
    style: { scalar: (w) => ({ true: "True", false: "False", null: "None" })[w] ?? w },
  },
  {
    name: "JavaScript literals",
    expect: "message",
    group: "scalar",
    style: { scalar: (w) => (w === "null" ? "undefined" : w) },
  },
  {
    name: "upper-case literals",
    expect: "message",
    group: "scalar",
    style: { scalar: (w) => (/^[tfn]/.test(w) ? w.toUpperCase() : w) },
  },
  {
    name: "plus signs",
    expect: "message",
    group: "scalar",
    style: { scalar: (w) => (/^[1-9][0-9.]*$/.test(w) ? `+${w}` : w) },
  },
  {
    name: "points at the end",
    expect: "message",
    group: "scalar",
    style: { scalar: (w) => (/^[0-9]+$/.test(w) ? `${w}.` : w) },
  },
  {
    name: "type wrappers",
    expect: "message",
    group: "scalar",
    style: { scalar: (w) => (/^[0-9]+$/.test(w) ? `NumberLong(${w})` : w) },
  },
  { name: "byte-order mark", expect: "message", text: (text) => `\ufeff${text}` },
  around("fence", (text) => `\`\`\`json\n${text}\n\`\`\``),
  around("fence without language", (text) => `\`\`\`\n${text}\n\`\`\`\n`),
  around("fence and talk", (text) => `Here it is:\n\n\`\`\`json\n${text}\n\`\`\`\n\nDone, it's {complete}.`),
  around("talk before", (text) => `Here's the {result} you asked for:\n${text}`),
  around("talk after", (text) => `${text}\nI've used {x} and "y", done.`),
  around("quoted lines", (text) =>
    text
      .split("\n")
      .map((line) => `> ${line}`)
      .join("\n"),
  ),
  around("function call", (text) => `callback(${text});`),
  around("assignment", (text) => `const answer = ${text};`),
  around("list of one", (text) => `[${text},]`),
  around("JSON in a string", (text) => JSON.stringify(text)),
  around("escaped object", (text) => JSON.stringify(text).slice(1, -1)),
  around("extra closing bracket", (text) => `${text}}`),
  around("cut", (text, random) => text.slice(0, 2 + Math.floor(random() * (text.length - 3))), "truncated"),
  around("last bracket missing", (text) => text.slice(0, text.lastIndexOf("}")), "truncated"),
  around("rest left out", (text) => text.replace(/\}(?=[^}]*$)/, ", ...}"), "truncated"),
];

/**
 * Pairs that together destroy information that a reader needs, so a rejection is correct: the end of a string, the
 * elements of a list, or the number of escapes.
 */
const UNCLEAR: readonly (readonly [string, string])[] = [
  ["missing commas at line ends", "lists not closed"],
  ["missing commas at line ends", "tuples for lists"],
  ["missing commas at line ends", "missing colons"],
  ["missing colons", "lists not closed"],
  ["missing colons", "unquoted keys and values"],
  ["missing colons", "keys without closing quote"],
  ["missing colons", "values without closing quote"],
  ["keys without closing quote", "lists not closed"],
  ["keys without opening quote", "lists not closed"],
  ["values without closing quote", "lists not closed"],
  ["values without opening quote", "lists not closed"],
  ["unquoted values", "lists not closed"],
  ["unquoted keys and values", "lists not closed"],
  ["values without closing quote", "line comments"],
  ["values without closing quote", "hash comments"],
  ["values without closing quote", "escaped line breaks between values"],
  ["escaped object", "single quotes"],
  ["escaped object", "some single quotes"],
  ["escaped object", "Python strings"],
  ["escaped object", "line comments"],
  ["escaped object", "hash comments"],
];

export function isUnclear(damages: readonly Damage[]): boolean {
  const names = new Set(damages.map((damage) => damage.name));
  return UNCLEAR.some(([one, other]) => names.has(one) && names.has(other));
}

/** Selects several damages that can be applied to one text. */
export function combination(random: Random, count: number): Damage[] {
  const chosen: Damage[] = [];
  while (chosen.length < count) {
    const damage = pick(random, DAMAGES);
    const isTaken = chosen.some((other) => other === damage || (other.group ?? other.name) === damage.group);
    if (!isTaken) chosen.push(damage);
  }
  return chosen;
}
