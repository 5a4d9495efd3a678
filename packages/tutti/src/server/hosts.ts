import { DONE } from "./routes/steer-routes.ts";
import { pageOf } from "./decode.ts";
import type { Handlers } from "./handler.ts";
import type { HOST_ROUTES, HostRow } from "../schema/api/host-routes.ts";
import { TuttiError } from "../schema/error.ts";

/** Without `--database-url` a server has no `Hosts`. */
export interface Hosts {
  list(): Promise<HostRow[]>;
  drain(id: string): Promise<void>;
  undrain(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

export function hostHandlers(hosts: Hosts | undefined): Handlers<keyof typeof HOST_ROUTES> {
  const mustHaveHosts = (id: string): Hosts => {
    if (hosts) return hosts;
    throw new TuttiError(
      "host_not_found",
      `The host "${id}" does not exist: this server has no --database-url. Start it with one.`,
    );
  };
  return {
    "GET /api/hosts": async ({ query }) => pageOf((await hosts?.list()) ?? [], query(), ({ id }) => id),
    "POST /api/hosts/:id/drain": async ({ params }) => {
      await mustHaveHosts(params.id).drain(params.id);
      return DONE;
    },
    "DELETE /api/hosts/:id/drain": async ({ params }) => {
      await mustHaveHosts(params.id).undrain(params.id);
      return DONE;
    },
    "DELETE /api/hosts/:id": async ({ params }) => {
      await mustHaveHosts(params.id).remove(params.id);
      return DONE;
    },
  };
}
