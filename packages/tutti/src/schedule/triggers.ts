// Runs that others set off with a signed request.
//
// Invariants
// 1. Who does not know the secret is not told which triggers there are: no such trigger, one that is switched off, one
//    without a secret and a wrong signature are refused in the same words, and a signature is computed for each.
// 2. One delivery makes one run, however often it is sent. One that was refused has left nothing and can be sent again.
// 3. Whoever has seen a delivery and sends it again and again, refused or not, leaves no more traces than the first time.
// 4. What a delivery says goes only where the person's own words have a place for it.
import { readFileSync } from "node:fs";
import { fillPayload } from "./fill-payload.ts";
import { demandSound, type LiveSettings, type Report } from "./live-settings.ts";
import type { Launched, RunLauncher } from "./run-launcher.ts";
import { viewOf } from "./schedules.ts";
import type { TriggerSettings } from "./settings.ts";
import { identifyDelivery, type Signatures } from "./signature.ts";
import type { TriggerView } from "../schema/api/schedule-routes.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { isRunOver } from "../schema/status.ts";
import type { World } from "../world.ts";

export interface TriggersOptions {
  settings: LiveSettings;
  launcher: RunLauncher;
  world: World;
  /** The variables of the server. */
  env: Readonly<Record<string, string | undefined>>;
  report: Report;
}

/** Shorter ones can be guessed. */
const LEAST_SECRET = 16;
/** So many refused deliveries are known again. */
const KNOWN_REFUSALS = 1000;

const originOf = (name: string) => `trigger/${name}` as const;

export class Triggers {
  readonly #options: TriggersOptions;
  /** Takes the place of a secret that there is not. */
  readonly #nobodysSecret: string;
  /** Why a delivery was refused last. */
  readonly #refusals = new Map<string, string>();

  constructor(options: TriggersOptions) {
    this.#options = options;
    this.#nobodysSecret = options.world.id(32);
  }

  async deliver(name: string, signatures: Signatures, body: Uint8Array): Promise<Launched> {
    const { settings, launcher, world } = this.#options;
    const { triggers, problem } = settings.read();
    const wanted = Object.hasOwn(triggers, name) && triggers[name]!.enabled ? triggers[name]! : null;
    const { secret } = wanted ? this.#secretOf(wanted) : { secret: null };
    const delivery = identifyDelivery(secret ?? this.#nobodysSecret, signatures, body, world.now());
    if (wanted === null || secret === null || delivery === null) {
      throw new TuttiError("unauthorized", "there is no trigger of that name that this signature sets off");
    }
    demandSound(problem);
    const payload = readJson(body);
    const launched = await this.#launch(name, delivery, filled(wanted, payload));
    if (launched.isNew) await launcher.tell({ type: "trigger:fired", data: { name, run: launched.run } });
    return launched;
  }

  list(): TriggerView[] {
    const { settings, launcher } = this.#options;
    const { triggers, problem } = settings.read();
    const known = launcher.byOrigin();
    return Object.entries(triggers).map(([name, wanted]) => {
      const { template, cwd, enabled, confirm, maxConcurrent } = wanted;
      const runs = known.get(originOf(name)) ?? [];
      const last = runs.at(-1);
      return {
        name,
        template,
        cwd,
        enabled,
        confirm,
        maxConcurrent,
        running: runs.filter(({ status }) => !isRunOver(status)).length,
        problem: problem ?? this.#secretOf(wanted).problem,
        lastRun: last ? viewOf(last) : null,
      };
    });
  }

  async #launch(name: string, delivery: string, wanted: TriggerSettings): Promise<Launched> {
    const { launcher, report } = this.#options;
    try {
      return await launcher.launch(originOf(name), delivery, wanted);
    } catch (thrown) {
      const { message, kind } = asTuttiError(thrown);
      if (!this.#isNewRefusal(`${originOf(name)}/${delivery}`, message)) throw thrown;
      report("a trigger could not be followed", { trigger: name, reason: message });
      // The sender is told; the person, who does not see that, finds it among the events.
      if (kind.status < 500) await launcher.tell({ type: "trigger:refused", data: { name, reason: message } });
      throw thrown;
    }
  }

  #isNewRefusal(delivery: string, reason: string): boolean {
    const isNew = this.#refusals.get(delivery) !== reason;
    this.#refusals.set(delivery, reason);
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > KNOWN_REFUSALS) this.#refusals.delete(oldest!);
    return isNew;
  }

  /** Looked up for each delivery, so that a secret can be replaced while the server runs. */
  #secretOf({ secretEnv, secretFile }: TriggerSettings): { secret: string | null; problem: string | null } {
    const place = secretEnv === undefined ? `the file ${secretFile}` : `the variable ${secretEnv}`;
    const secret = secretEnv === undefined ? readSecret(secretFile!) : this.#options.env[secretEnv];
    if (secret === undefined) return { secret: null, problem: `its secret cannot be read from ${place}` };
    if (secret.length >= LEAST_SECRET) return { secret, problem: null };
    return { secret: null, problem: `its secret in ${place} is shorter than ${LEAST_SECRET} characters` };
  }
}

function readSecret(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** An empty body says nothing, which is sound. */
function readJson(body: Uint8Array): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return text.trim() === "" ? undefined : JSON.parse(text);
  } catch (error) {
    throw new TuttiError("invalid_input", "the body is not JSON", { cause: error });
  }
}

function filled(wanted: TriggerSettings, payload: unknown): TriggerSettings {
  const variables = Object.entries(wanted.variables).map(([name, value]) => [
    name,
    typeof value === "string" ? fillPayload(value, payload) : value,
  ]);
  return {
    ...wanted,
    message: fillPayload(wanted.message, payload),
    variables: Object.fromEntries(variables) as TriggerSettings["variables"],
  };
}
