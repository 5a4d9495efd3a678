// A strict parser of the Prometheus text format, version 0.0.4. It throws where a scraper would reject or warn.

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const SUFFIXES: Record<string, readonly string[]> = { histogram: ["_bucket", "_sum", "_count"] };

export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  let current: Family | null = null;
  let help: { name: string; text: string } | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, key, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (key === "HELP") {
      if (families.has(name)) throw new Error(`${name} comes twice`);
      help = { name, text: rest };
    } else if (key === "TYPE") {
      if (help?.name !== name) throw new Error(`no sentence before the type of ${name}`);
      if (!NAME.test(name) || !["counter", "gauge", "histogram"].includes(rest)) throw new Error(`odd: ${line}`);
      current = { name, type: rest, help: help.text, samples: [] };
      if ((rest === "counter") !== name.endsWith("_total")) throw new Error(`${name} is a ${rest}`);
      families.set(name, current);
    } else {
      if (!current) throw new Error(`before any family: ${line}`);
      current.samples.push(readSample(line, current));
    }
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

function readSample(line: string, { name: family, type }: Family): Family["samples"][number] {
  const [, name = "", pairs, number = ""] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const allowed = (SUFFIXES[type] ?? [""]).map((suffix) => family + suffix);
  if (!allowed.includes(name)) throw new Error(`not of ${family}: ${line}`);
  const value = number === "+Inf" ? Infinity : Number(number);
  if (number === "" || Number.isNaN(value)) throw new Error(`no number: ${line}`);
  return { name, labels: readLabels(pairs ?? ""), value };
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const pair = /([^=,{}]+)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
  for (let at = 0; at < text.length; at = pair.lastIndex) {
    pair.lastIndex = at;
    const [, name = "", value = ""] = pair.exec(text) ?? [];
    if (!LABEL.test(name) || Object.hasOwn(labels, name)) throw new Error(`odd labels: ${text}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, sign: string) => (sign === "n" ? "\n" : sign));
  }
  return labels;
}

function checkFamily({ name, type, samples }: Family): void {
  const keys = samples.map((sample) => JSON.stringify([sample.name, sample.labels]));
  if (new Set(keys).size !== keys.length) throw new Error(`${name} has the same line twice`);
  if (type !== "histogram") return;
  const series = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: null }));
  for (const lines of series.values()) {
    const buckets = lines.filter((line) => line.name.endsWith("_bucket"));
    const values = buckets.map(({ value }) => value);
    const count = lines.find((line) => line.name.endsWith("_count"))?.value;
    const grows = values.every((value, i) => i === 0 || value >= values[i - 1]!);
    if (!grows || buckets.at(-1)?.labels["le"] !== "+Inf" || values.at(-1) !== count) throw new Error(`odd: ${name}`);
  }
}
