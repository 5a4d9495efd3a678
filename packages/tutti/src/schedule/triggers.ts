// `Triggers` starts runs on signed requests.
//
// Invariants
// 1. A client without the secret cannot find out which triggers exist. An unknown trigger, a disabled one, one without
//    a secret and a wrong signature get the same error, and a signature is computed for each of them.
// 2. One delivery creates one run, however often it is sent. A refused delivery leaves no run and can be sent again.
// 3. A replayed delivery, refused or not, adds no events or log lines beyond those of the first one.
// 4. A payload only fills the placeholders in the user's own texts.
import { readFileSync } from "node:fs";
import { fillPayload } from "./fill-payload.ts";
import { demandSound, type LiveSettings, type ReportProblem } from "./live-settings.ts";
import type { Launched, RunLauncher } from "./run-launcher.ts";
import { viewOf, viewOfSettings } from "./schedules.ts";
import type { TriggerSettings } from "./settings.ts";
import { identifyDelivery, type Signatures } from "./signature.ts";
import type { TriggerView } from "../schema/api/schedule-routes.ts";
import { parseBoundedJson } from "../schema/bounded-json.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";

interface TriggersOptions {
  settings: LiveSettings;
  launcher: RunLauncher;
  world: World;
  env: Readonly<Record<string, string | undefined>>;
  report: ReportProblem;
}

/** In characters. Secrets shorter than `MIN_SECRET_LENGTH` could be guessed. */
const MIN_SECRET_LENGTH = 16;
/** `MAX_REFUSALS` deliveries are remembered, so that a replay is not reported again. */
const MAX_REFUSALS = 1000;

const originOf = (name: string) => `trigger/${name}` as const;

export class Triggers {
  readonly #options: TriggersOptions;
  /** `identifyDelivery` gets it in place of a missing secret, so that every request computes a signature. */
  #dummySecret: string | null = null;
  /** Maps each refused delivery to its last reason. */
  readonly #refusals = new Map<string, string>();

  constructor(options: TriggersOptions) {
    this.#options = options;
  }

  async deliver(name: string, signatures: Signatures, body: Uint8Array): Promise<Launched> {
    const { settings, launcher, world } = this.#options;
    const { triggers, problem } = settings.read();
    const trigger = Object.hasOwn(triggers, name) && triggers[name]!.enabled ? triggers[name]! : null;
    const { secret } = trigger ? this.#secretOf(trigger) : { secret: null };
    // Not in the constructor, because a server that starts would load Node's `crypto` for it.
    const dummySecret = (this.#dummySecret ??= world.id(32));
    const delivery = identifyDelivery(secret ?? dummySecret, signatures, body, world.now());
    if (trigger === null || secret === null || delivery === null) {
      throw new TuttiError(
        "unauthorized",
        "The trigger does not exist or the signature is wrong. Check the name and the secret.",
      );
    }
    demandSound(problem);
    const payload = readJson(body);
    const launched = await this.#launch(name, delivery, fillSettings(trigger, payload));
    if (launched.isNew) await launcher.publish({ type: "trigger:fired", data: { name, run: launched.run } });
    return launched;
  }

  list(): TriggerView[] {
    const { settings, launcher } = this.#options;
    const { triggers, problem } = settings.read();
    const runsByOrigin = launcher.byOrigin();
    return Object.entries(triggers).map(([name, trigger]) => {
      const runs = runsByOrigin.get(originOf(name)) ?? [];
      const last = runs.at(-1);
      return {
        name,
        ...viewOfSettings(trigger, runs),
        problem: problem ?? this.#secretOf(trigger).problem,
        lastRun: last ? viewOf(last) : null,
      };
    });
  }

  async #launch(name: string, delivery: string, trigger: TriggerSettings): Promise<Launched> {
    const { launcher, report } = this.#options;
    try {
      return await launcher.launch(originOf(name), delivery, trigger);
    } catch (thrown) {
      const { message, kind } = asTuttiError(thrown);
      if (!this.#isNewRefusal(`${originOf(name)}/${delivery}`, message)) throw thrown;
      report("trigger refused", { trigger: name, reason: message });
      // The sender gets the error response; the event shows it to the user.
      if (kind.status < 500) await launcher.publish({ type: "trigger:refused", data: { name, reason: message } });
      throw thrown;
    }
  }

  #isNewRefusal(delivery: string, reason: string): boolean {
    const isNew = this.#refusals.get(delivery) !== reason;
    this.#refusals.set(delivery, reason);
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > MAX_REFUSALS) this.#refusals.delete(oldest!);
    return isNew;
  }

  /** Read for each delivery, so that a secret can be replaced while the server runs. */
  #secretOf({ secretEnv, secretFile }: TriggerSettings): { secret: string | null; problem: string | null } {
    const source = secretEnv === undefined ? `the file ${secretFile}` : `the environment variable ${secretEnv}`;
    const secret = secretEnv === undefined ? readSecret(secretFile!) : this.#options.env[secretEnv];
    if (secret === undefined)
      return { secret: null, problem: `The secret cannot be read from ${source}. Set it there.` };
    if (secret.length >= MIN_SECRET_LENGTH) return { secret, problem: null };
    return {
      secret: null,
      problem: `The secret in ${source} is too short. Use at least ${MIN_SECRET_LENGTH} characters.`,
    };
  }
}

function readSecret(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** Returns undefined for an empty body, which is valid. */
function readJson(body: Uint8Array): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return text.trim() === "" ? undefined : parseBoundedJson(text);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    throw new TuttiError("invalid_input", "The body is not valid JSON. Send JSON or an empty body.", { cause: error });
  }
}

function fillSettings(trigger: TriggerSettings, payload: unknown): TriggerSettings {
  const variables = Object.entries(trigger.variables).map(([name, value]) => [
    name,
    typeof value === "string" ? fillPayload(value, payload) : value,
  ]);
  return {
    ...trigger,
    message: fillPayload(trigger.message, payload),
    variables: Object.fromEntries(variables) as TriggerSettings["variables"],
  };
}
