// The page of figures that Prometheus reads: of the engine, of the server and of the process.
import { engineMetrics } from "./engine-metrics.ts";
import { counter, histogram, observed, renderMetrics } from "./metric.ts";
import { processMetrics } from "./process-metrics.ts";
import type { RequestReport } from "./request-report.ts";
import type { Engine } from "../engine/engine.ts";

export interface MetricsOptions {
  engine: Engine;
  version: string;
  now: () => number;
  /** Who follows the live events, and how many of them were cut off because they did not read. */
  live: () => { clients: number; cutOff: number };
}

export interface Metrics {
  answered: (report: RequestReport) => void;
  page: () => string;
  close: () => void;
}

/** From a millisecond to the longest that anybody waits for an answer. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createMetrics({ engine, version, now, live }: MetricsOptions): Metrics {
  const requests = counter("tutti_http_requests_total", "Requests that were answered, by route and status.");
  const seconds = histogram("tutti_http_request_duration_seconds", "How long answers took, by route.", SECONDS);
  const ofEngine = engineMetrics(engine);
  const ofProcess = processMetrics(version, now);
  const all = [
    ...ofEngine.metrics,
    requests,
    seconds,
    observed("gauge", "tutti_live_clients", "Clients that follow the live events.", () => live().clients),
    observed("counter", "tutti_live_clients_cut_off_total", "Clients of the live events that did not read.", () => {
      return live().cutOff;
    }),
    ...ofProcess.metrics,
  ];
  return {
    answered({ method: asked, route, status, ms }) {
      // Whatever a client may invent must not become a line of its own.
      const method = METHODS.has(asked) ? asked : "other";
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
