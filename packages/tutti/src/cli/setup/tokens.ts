// `openSource` uses the token files of the data folder, which a server reads at every request, or with `--url` the
// routes of that server.
import { findAddress } from "../access/find-address.ts";
import { openTokens } from "../../main/settings.ts";
import type { Output } from "../terminal/output.ts";
import { readNumber } from "../input/read-number.ts";
import { createCall, type Answered } from "../../client/call-route.ts";
import { MAX_TOKEN_DAYS, type TokenRole } from "../../schema/token-role.ts";

interface CreateFlags {
  role: TokenRole;
  expires?: string;
}

type Row = Answered<"GET /api/tokens">[number];
type Created = Answered<"POST /api/tokens">;

interface TokenSource {
  list(): Promise<Row[]>;
  create(token: { name: string; role: TokenRole; expiresInDays?: number }): Promise<Created>;
  revoke(name: string): Promise<unknown>;
}

async function openSource(output: Output): Promise<TokenSource> {
  if (output.url === undefined) {
    const tokens = openTokens(output.dataDir);
    return {
      list: async () => tokens.list(),
      create: async (token) => tokens.create(token),
      revoke: async (name) => tokens.revoke(name),
    };
  }
  const call = createCall((await findAddress(output))!);
  return {
    list: () => call("GET /api/tokens"),
    create: (body) => call("POST /api/tokens", { body }),
    revoke: (name) => call("DELETE /api/tokens/:name", { params: { name } }),
  };
}

export async function create(output: Output, name: string, { role, expires }: CreateFlags): Promise<number> {
  const days = expires === undefined ? {} : { expiresInDays: readNumber("--expires", expires, 1, MAX_TOKEN_DAYS) };
  const created = await (await openSource(output)).create({ name, role, ...days });
  output.value(created);
  output.result(created.token);
  output.line(`Store this token now: it is not shown again. Its role is ${role}${describeExpiry(created)}.`);
  return 0;
}

export async function list(output: Output): Promise<number> {
  const rows = await (await openSource(output)).list();
  output.value(rows);
  for (const row of rows) {
    output.result(
      `${row.name}  ${row.role}  created ${dayOf(row.createdAt)}${row.expired ? ", expired" : describeExpiry(row)}`,
    );
  }
  if (rows.length === 0) output.line('No named tokens. Create one with "tutti tokens create".');
  return 0;
}

export async function revoke(output: Output, name: string): Promise<number> {
  await (await openSource(output)).revoke(name);
  output.value({ success: true });
  output.result(`${name} is revoked`);
  return 0;
}

const describeExpiry = ({ expiresAt }: Row): string => (expiresAt === null ? "" : `, valid until ${dayOf(expiresAt)}`);

const dayOf = (time: string): string => time.slice(0, 10);
