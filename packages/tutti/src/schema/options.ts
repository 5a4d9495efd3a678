// Options of the managers of document 004, with their defaults.
import { z } from "zod";

export const OrchestratorOptions = z.object({
  /** If false, the log is kept in memory and lost with the process. */
  persistenceEnabled: z.boolean().default(true),
  /**
   * The data folder. Absolute, because a relative `persistencePath` would change its meaning with the working
   * directory.
   */
  persistencePath: z
    .string()
    .startsWith("/", "must be an absolute path")
    .or(z.string().regex(/^[A-Za-z]:[\\/]/))
    .optional(),
  /**
   * The longest time until a change is on disk. Every change is on disk before a caller sees it, so any
   * `saveDebounceMs` is kept (E78).
   */
  saveDebounceMs: z.number().int().min(0).default(1000),
  pollInterval: z.number().int().min(1).default(3000),
});

export const WorkerOptions = z.object({
  maxWorkers: z.number().int().min(1).default(5),
  pollInterval: z.number().int().min(1).default(2000),
  workerTimeout: z.number().int().min(1).default(300_000),
  retryLimit: z.number().int().min(0).default(2),
  spawnDelay: z.number().int().min(0).default(500),
  progressDetectionInterval: z.number().int().min(1).default(30_000),
});

/** The value of `SubSessionOptions.parse({})`, for which no schema has to be built. */
export const DEFAULT_SUB_SESSION_OPTIONS = {
  pollInterval: 5000,
  inactivityThreshold: 60_000,
  confirmationDelay: 30_000,
  resultPrefix: "**[Resultat de sous-tache]**\n\n",
  resultSuffix: "",
  maxMessageLength: 50_000,
  autoArchiveOnReturn: false,
  detectTaskSpawn: true,
  taskSpawnWindow: 10_000,
};

const initial = DEFAULT_SUB_SESSION_OPTIONS;

export const SubSessionOptions = z.object({
  pollInterval: z.number().int().min(1).default(initial.pollInterval),
  inactivityThreshold: z.number().int().min(0).default(initial.inactivityThreshold),
  confirmationDelay: z.number().int().min(0).default(initial.confirmationDelay),
  resultPrefix: z.string().default(initial.resultPrefix),
  resultSuffix: z.string().default(initial.resultSuffix),
  maxMessageLength: z.number().int().min(1).default(initial.maxMessageLength),
  autoArchiveOnReturn: z.boolean().default(initial.autoArchiveOnReturn),
  detectTaskSpawn: z.boolean().default(initial.detectTaskSpawn),
  taskSpawnWindow: z.number().int().min(0).default(initial.taskSpawnWindow),
});
