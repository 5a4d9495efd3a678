// `SecretVault` keeps secrets out of the log. A user may write a secret into a request, a message or an answer. The
// log, and with it every client and every export, gets a placeholder; only the prompt of an agent gets the secret back.
//
// Invariants
// 1. A placeholder is stored only after its secret is on disk, so a prompt can always be completed after a crash.
// 2. A placeholder does not reveal its secret: its id is an HMAC with a key of this data folder. Equal secrets get
//    equal placeholders, so that repeated work is recognised.
// 3. The folder is readable by its owner only. Removing a run removes its secrets.
import { createHmac, randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Secrets } from "./find-secrets.ts";
import { MIN_LENGTH } from "./secrets.ts";
import { makeFolderDurably, replaceDurably } from "../../durable-file.ts";

const OWNER_ONLY = 0o600;
const KEY_BYTES = 32;
const ID_LENGTH = 10;
const PLACEHOLDER = /\[secret ([0-9a-f]{10})\]/g;

type RunSecrets = Record<string, string>;

export class SecretVault {
  readonly #folder: string;
  readonly #secrets: () => Secrets;
  readonly #opened = new Map<string, RunSecrets>();
  #key: Buffer | null = null;

  constructor({ folder, secrets }: { folder: string; secrets: () => Secrets }) {
    this.#folder = folder;
    this.#secrets = secrets;
  }

  /** Returns `value` with a placeholder for each secret in its strings and names, and stores the secrets. */
  seal<T>(run: string, value: T): T {
    const found: RunSecrets = {};
    const sealed = this.#sealValue(value, found);
    this.#add(run, found);
    return sealed;
  }

  /** Unlike `seal`, forgets the secrets. */
  hide<T>(value: T): T {
    return this.#sealValue(value, {});
  }

  /** Returns `value` with the secrets of `run` in place of their placeholders. */
  open<T>(run: string, value: T): T {
    if (!existsSync(this.#fileOf(run))) return value;
    const known = this.#read(run);
    return mapStrings(value, (text) =>
      text.replaceAll(PLACEHOLDER, (placeholder, id: string) => known[id] ?? placeholder),
    );
  }

  /** After `copy`, run `to` can open the placeholders in its log, which it has from `from`. */
  copy(from: string, to: string): void {
    if (existsSync(this.#fileOf(from))) this.#add(to, this.#read(from));
  }

  remove(run: string): void {
    this.#opened.delete(run);
    rmSync(this.#fileOf(run), { force: true });
  }

  #sealValue<T>(value: T, found: RunSecrets): T {
    return mapStrings(value, (text) => this.#sealText(text, found));
  }

  #sealText(text: string, found: RunSecrets): string {
    const bytes = Buffer.from(text);
    const { regions } = this.#secrets().find(bytes, 0, true);
    if (regions.length === 0) return text;
    let sealed = "";
    let last = 0;
    for (let i = 0; i < regions.length; i += 2) {
      const [from, to] = [regions[i]!, regions[i + 1]!];
      const secret = bytes.toString("utf8", from, to);
      const id = this.#idOf(secret);
      found[id] = secret;
      sealed += `${bytes.toString("utf8", last, from)}[secret ${id}]`;
      last = to;
    }
    return sealed + bytes.toString("utf8", last);
  }

  #add(run: string, secrets: RunSecrets): void {
    const known = existsSync(this.#fileOf(run)) ? this.#read(run) : {};
    if (Object.keys(secrets).every((id) => id in known)) return;
    const all = { ...known, ...secrets };
    makeFolderDurably(this.#folder, 0o700);
    replaceDurably(this.#fileOf(run), JSON.stringify(all), OWNER_ONLY);
    this.#opened.set(run, all);
  }

  #read(run: string): RunSecrets {
    const opened = this.#opened.get(run) ?? (JSON.parse(readFileSync(this.#fileOf(run), "utf8")) as RunSecrets);
    this.#opened.set(run, opened);
    return opened;
  }

  #idOf(secret: string): string {
    this.#key ??= this.#readKey();
    return createHmac("sha256", this.#key).update(secret).digest("hex").slice(0, ID_LENGTH);
  }

  #readKey(): Buffer {
    const file = join(this.#folder, "key");
    if (existsSync(file)) return readFileSync(file);
    const key = randomBytes(KEY_BYTES);
    makeFolderDurably(this.#folder, 0o700);
    replaceDurably(file, key, OWNER_ONLY);
    return key;
  }

  #fileOf(run: string): string {
    return join(this.#folder, `${run}.json`);
  }
}

/** Also changes the names of members. `mapStrings` returns the same object if no string changes. */
function mapStrings<T>(value: T, change: (text: string) => string): T {
  if (typeof value === "string") return change(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapStrings(item, change));
    return (items.every((item, i) => item === (value as unknown[])[i]) ? value : items) as T;
  }
  const members = Object.entries(value).map(
    ([name, member]) =>
      [name.length < MIN_LENGTH ? name : change(name), mapStrings(member as unknown, change)] as const,
  );
  return members.every(
    ([name, member]) => Object.hasOwn(value, name) && member === (value as Record<string, unknown>)[name],
  )
    ? value
    : (Object.fromEntries(members) as T);
}
