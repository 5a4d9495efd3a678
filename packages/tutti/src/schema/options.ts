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

export const SubSessionOptions = z.object({
  pollInterval: z.number().int().min(1).default(5000),
  inactivityThreshold: z.number().int().min(0).default(60_000),
  confirmationDelay: z.number().int().min(0).default(30_000),
  resultPrefix: z.string().default("**[Resultat de sous-tache]**\n\n"),
  resultSuffix: z.string().default(""),
  maxMessageLength: z.number().int().min(1).default(50_000),
  autoArchiveOnReturn: z.boolean().default(false),
  detectTaskSpawn: z.boolean().default(true),
  taskSpawnWindow: z.number().int().min(0).default(10_000),
});
