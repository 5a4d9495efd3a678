// `createMetrics` combines the metrics of the engine, the server and the process into the page at `GET /metrics`.
import { engineMetrics } from "./engine-metrics.ts";
import { counter, histogram, observed, renderMetrics } from "./metric.ts";
import { processMetrics } from "./process-metrics.ts";
import type { RequestReport } from "./request-report.ts";
import type { Engine } from "../engine/engine.ts";

interface MetricsOptions {
  engine: Engine;
  version: string;
  now: () => number;
  /** `clients` are connected to the live events now. `cutOff` did not read and were disconnected, since the start. */
  live: () => { clients: number; cutOff: number };
}

export interface Metrics {
  answered: (report: RequestReport) => void;
  page: () => string;
  close: () => void;
}

/** Bounds for response times, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createMetrics({ engine, version, now, live }: MetricsOptions): Metrics {
  const requests = counter("tutti_http_requests_total", "Requests answered, by method, route and status.");
  const seconds = histogram(
    "tutti_http_request_duration_seconds",
    "Response time in seconds, by method and route.",
    SECONDS,
  );
  const ofEngine = engineMetrics(engine, now);
  const ofProcess = processMetrics(version, now);
  const all = [
    ...ofEngine.metrics,
    requests,
    seconds,
    observed("gauge", "tutti_live_clients", "Clients connected to the live events.", () => live().clients),
    observed(
      "counter",
      "tutti_live_clients_cut_off_total",
      "Clients of the live events cut off because they did not read.",
      () => {
        return live().cutOff;
      },
    ),
    ...ofProcess.metrics,
  ];
  return {
    answered({ method: requestMethod, route, status, ms }) {
      // `METHODS` keeps clients from creating new label values with invented methods.
      const method = METHODS.has(requestMethod) ? requestMethod : "other";
      requests.add({ method, route, status: String(status) });
      seconds.observe({ method, route }, ms / 1000);
    },
    page: () => renderMetrics(all),
    close: () => {
      ofEngine.close();
      ofProcess.close();
    },
  };
}
