// Figures of the process, under the names that dashboards for Node know.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { observed, type Metric } from "./metric.ts";

const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

export interface ProcessMetrics {
  metrics: Metric[];
  close: () => void;
}

export function processMetrics(version: string, now: () => number): ProcessMetrics {
  const startedAt = now() / 1000 - process.uptime();
  const build = { version, node: process.versions.node };
  const delay = eventLoopDelay();
  const metrics = [
    observed("gauge", "tutti_build_info", "The version that runs.", () => [{ labels: build, value: 1 }]),
    observed(
      "gauge",
      "process_start_time_seconds",
      "When the process started, in seconds since 1970.",
      () => startedAt,
    ),
    observed("counter", "process_cpu_seconds_total", "Processor time that the process has used.", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS;
    }),
    observed("gauge", "process_resident_memory_bytes", "Memory that the process holds.", () =>
      process.memoryUsage.rss(),
    ),
    observed("gauge", "nodejs_heap_size_used_bytes", "Memory that objects of the process take.", () => {
      return process.memoryUsage().heapUsed;
    }),
    ...delay.metrics,
  ];
  return { metrics, close: delay.close };
}

/** How late the event loop was since it was last asked. Measured from the first question on: nobody else pays for it. */
function eventLoopDelay(): ProcessMetrics {
  let measured: ReturnType<typeof monitorEventLoopDelay> | null = null;
  const last = { p50: 0, p99: 0, max: 0 };
  const look = () => {
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
  const help = (which: string) => `How late the event loop was since it was last asked, ${which}.`;
  return {
    metrics: [
      // The first of them looks, for all three.
      observed("gauge", "nodejs_eventloop_lag_p50_seconds", help("half of the time at most"), look),
      observed("gauge", "nodejs_eventloop_lag_p99_seconds", help("99 % of the time at most"), () => last.p99),
      observed("gauge", "nodejs_eventloop_lag_max_seconds", help("at most"), () => last.max),
    ],
    close: () => void measured?.disable(),
  };
}
