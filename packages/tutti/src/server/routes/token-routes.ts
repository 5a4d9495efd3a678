import { pageOf } from "../decode.ts";
import type { Handlers } from "../handler.ts";
import type { LiveHolders } from "../live/live-holders.ts";
import type { NamedTokens } from "../access/named-tokens.ts";
import { DONE } from "./steer-routes.ts";
import type { TOKEN_ROUTES } from "../../schema/api/token-routes.ts";

interface TokenRouteOptions {
  tokens: NamedTokens;
  live: LiveHolders;
}

export function tokenHandlers({ tokens, live }: TokenRouteOptions): Handlers<keyof typeof TOKEN_ROUTES> {
  return {
    "GET /api/access": ({ context }) => {
      const { name, role } = context.get("holder")!;
      return { name, role };
    },
    "GET /api/tokens": ({ query }) => pageOf(tokens.list(), query(), ({ name }) => name),
    "POST /api/tokens": async ({ body }) => tokens.create(await body()),
    "DELETE /api/tokens/:name": ({ params }) => {
      tokens.revoke(params.name);
      live.check();
      return DONE;
    },
  };
}
