// `processMetrics` uses the names that Grafana dashboards for Node expect.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { observed, type MetricGroup } from "./metric.ts";

const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

export function processMetrics(version: string, now: () => number): MetricGroup {
  const startedAt = now() / 1000 - process.uptime();
  const build = { version, node: process.versions.node };
  const delay = eventLoopDelay();
  const metrics = [
    observed("gauge", "tutti_build_info", "Version of Tutti and of Node, as labels.", () => [
      { labels: build, value: 1 },
    ]),
    observed(
      "gauge",
      "process_start_time_seconds",
      "Start time of the process, in seconds since 1970.",
      () => startedAt,
    ),
    observed("counter", "process_cpu_seconds_total", "CPU time used by the process, in seconds.", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS;
    }),
    observed("gauge", "process_resident_memory_bytes", "Resident memory of the process, in bytes.", () =>
      process.memoryUsage.rss(),
    ),
    observed("gauge", "nodejs_heap_size_used_bytes", "Heap memory in use, in bytes.", () => {
      return process.memoryUsage().heapUsed;
    }),
    ...delay.metrics,
  ];
  return { metrics, close: delay.close };
}

/** Measuring starts with the first scrape, so that unused metrics cost nothing. */
function eventLoopDelay(): MetricGroup {
  let measured: ReturnType<typeof monitorEventLoopDelay> | null = null;
  const last = { p50: 0, p99: 0, max: 0 };
  const sample = () => {
    if (measured === null) {
      measured = monitorEventLoopDelay({ resolution: 20 });
      measured.enable();
    } else if (measured.count > 0) {
      last.p50 = measured.percentile(50) / NANOSECONDS;
      last.p99 = measured.percentile(99) / NANOSECONDS;
      last.max = measured.max / NANOSECONDS;
      measured.reset();
    }
    return last.p50;
  };
  const help = (which: string) => `Event loop delay since the previous scrape, in seconds: ${which}.`;
  return {
    metrics: [
      // Only the first metric calls `sample`, which updates `last` for all three.
      observed("gauge", "nodejs_eventloop_lag_p50_seconds", help("median"), sample),
      observed("gauge", "nodejs_eventloop_lag_p99_seconds", help("99th percentile"), () => last.p99),
      observed("gauge", "nodejs_eventloop_lag_max_seconds", help("maximum"), () => last.max),
    ],
    close: () => void measured?.disable(),
  };
}
