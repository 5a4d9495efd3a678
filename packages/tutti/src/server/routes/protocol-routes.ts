import { checkBody } from "./check-body.ts";
import { pageOf } from "../decode.ts";
import type { Handlers } from "../handler.ts";
import { PROTOCOL_TITLES, PROTOCOLS, type Protocol } from "../../protocol/canonical/protocol-name.ts";
import type { Profile } from "../../protocol/response/profile.ts";
import { jsonSchema, PUBLISHED_SCHEMAS } from "../../protocol/published-schemas.ts";
import type { PROTOCOL_ROUTES } from "../../schema/api/protocol-routes.ts";
import { TuttiError } from "../../schema/error.ts";

export function protocolHandlers(): Handlers<keyof typeof PROTOCOL_ROUTES> {
  return {
    "GET /api/protocols": ({ query }) =>
      pageOf(PROTOCOLS, query(), (name) => name).map((name) => ({
        name,
        title: PROTOCOL_TITLES[name],
        messages: messagesOf(name),
        schema: `/api/protocols/${name}/schema.json`,
      })),
    "GET /api/protocols/:name/schema.json": ({ params, query }) =>
      schemaOf(protocolNamed(params.name), query().profile),
    "POST /api/protocols/:name/validate": async ({ params, query, body }) => {
      const protocol = protocolNamed(params.name);
      const { profile } = query();
      return checkBody(protocol, await body(), { profile, receivedAt: new Date().toISOString() });
    },
  };
}

function protocolNamed(name: string): Protocol {
  const protocol = PROTOCOLS.find((known) => known === name);
  if (protocol === undefined) {
    throw new TuttiError("not_found", `Protocol "${name}" does not exist. Use one of ${PROTOCOLS.join(", ")}.`);
  }
  return protocol;
}

const messagesOf = (protocol: Protocol): string[] =>
  Object.keys(PUBLISHED_SCHEMAS).flatMap((name) => (name.startsWith(`${protocol}/`) ? [name.split("/")[1]!] : []));

/** In `schemaOf`, each message keeps the `$id` under which it is published. */
function schemaOf(protocol: Protocol, profile: Profile) {
  const parts = messagesOf(protocol).flatMap((message) => {
    const name = `${protocol}/${message}`;
    // The delimited response has one schema for both profiles, published as `strict`.
    const schema = jsonSchema(name, profile, "2020-12") ?? jsonSchema(name, "strict", "2020-12");
    return schema ? [[message, schema] as const] : [];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:tutti:${protocol}:${profile}`,
    title: `${PROTOCOL_TITLES[protocol]} (${profile})`,
    anyOf: parts.map(([, schema]) => ({ $ref: String(schema["$id"]) })),
    $defs: Object.fromEntries(parts),
  };
}
