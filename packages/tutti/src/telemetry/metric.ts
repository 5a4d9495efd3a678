// Metrics in the Prometheus text format, version 0.0.4.

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** Appended to the name of the metric: `_bucket`, `_sum` or `_count`. */
  suffix?: string;
}

export interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: () => Iterable<Sample>;
}

/** Metrics that are kept up to date until `close`. */
export interface MetricGroup {
  metrics: Metric[];
  close: () => void;
}

interface Counter extends Metric {
  add: (labels: Labels, by?: number) => void;
}

/** A `Counter` only grows, from zero at the start of the process. The labels in `begin` appear at once, with zero. */
export function counter(name: string, help: string, begin: readonly Labels[] = []): Counter {
  const samples = new Map<string, Sample>();
  const add = (labels: Labels, by = 1) => {
    const key = keyOf(labels);
    samples.set(key, { labels, value: (samples.get(key)?.value ?? 0) + by });
  };
  // Prometheus can compute the first increase only if the sample was zero before.
  for (const labels of begin) add(labels, 0);
  return { name, help, type: "counter", add, samples: () => samples.values() };
}

export const observed = (
  type: "counter" | "gauge",
  name: string,
  help: string,
  read: () => number | readonly Sample[],
): Metric => ({
  name,
  help,
  type,
  samples: () => {
    const found = read();
    return typeof found === "number" ? [{ labels: {}, value: found }] : found;
  },
});

interface Histogram extends Metric {
  observe: (labels: Labels, value: number) => void;
}

/** A `Histogram` counts values in buckets. `bounds` are the inclusive upper limits, in ascending order. */
export function histogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const series = new Map<string, { labels: Labels; counts: number[]; sum: number }>();
  const observe = (labels: Labels, value: number) => {
    const key = keyOf(labels);
    const buckets = series.get(key) ?? { labels, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 };
    series.set(key, buckets);
    const bucket = bounds.findIndex((bound) => value <= bound);
    buckets.counts[bucket === -1 ? bounds.length : bucket]! += 1;
    buckets.sum += value;
  };
  function* samples(): Generator<Sample> {
    for (const { labels, counts, sum } of series.values()) {
      let total = 0;
      for (const [i, count] of counts.entries()) {
        total += count;
        yield { suffix: "_bucket", labels: { ...labels, le: numberOf(bounds[i] ?? Infinity) }, value: total };
      }
      yield { suffix: "_sum", labels, value: sum };
      yield { suffix: "_count", labels, value: total };
    }
  }
  return { name, help, type: "histogram", observe, samples };
}

export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics.map(renderFamily).join("");
}

function renderFamily({ name, help, type, samples }: Metric): string {
  const lines = [`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`, `# TYPE ${name} ${type}`];
  for (const { suffix = "", labels, value } of samples()) {
    lines.push(`${name}${suffix}${renderLabels(labels)} ${numberOf(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

function numberOf(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

const keyOf = (labels: Labels): string => JSON.stringify(Object.entries(labels));
