/**
 * Settings that superusers enter on the setup page. A service on one node stores them in its data
 * folder; other services get lines for their environment. Saved settings apply at the next start.
 */
import { recordAudit } from '#audit/audit.ts'
import { type Config, ConfigError, type Env, readConfig } from '#config/config.ts'
import {
  addSavedSettings,
  findOverride,
  readSettingsFile,
  type SavedSettings,
  writeSettingsFile,
} from '#config/settings-file.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { setupProblem } from './problems.ts'

/** The process that runs this service, which can start it again with other settings. */
export type Host = {
  /** The environment without saved settings. */
  env: Env
  restart(): void
  /** The reason why the last restart returned to the former settings; null: it succeeded. */
  restartFailure: string | null
}

/** New values by name; null removes a saved one. */
export type Changes = Readonly<Record<string, string | null>>
export type Line = { name: string; value: string }

export class Settings {
  readonly #platform: Pick<Platform, 'config' | 'db' | 'clock'>
  readonly #host: Host
  readonly #running: SavedSettings
  /** False: the settings belong into the environment. */
  readonly isStored: boolean

  constructor(platform: Pick<Platform, 'config' | 'db' | 'clock'>, host: Host | null) {
    const { databaseUrl, serve } = platform.config
    this.#platform = platform
    this.#host = host ?? { env: {}, restart() {}, restartFailure: null }
    // Other nodes and processes would continue with the former settings.
    this.isStored = host !== null && databaseUrl === null && serve.size === 3
    this.#running = this.#read()
  }

  get restartFailure(): string | null {
    return this.#host.restartFailure
  }

  /** Names of settings that the running service does not use yet. */
  get pending(): string[] {
    const saved = this.#read()
    const names = new Set([...Object.keys(saved), ...Object.keys(this.#running)])
    return [...names].filter((name) => saved[name] !== this.#running[name]).sort()
  }

  /** Returns the environment's setting that prevents a saved one from taking effect. */
  findOverride(name: string): string | null {
    return findOverride(this.#host.env, name)
  }

  isSaved(name: string): boolean {
    return Object.hasOwn(this.#read(), name)
  }

  /** Returns names and values of the saved settings whose names match. */
  listSaved(pattern: RegExp): [name: string, value: string][] {
    return Object.entries(this.#read()).filter(([name]) => pattern.test(name))
  }

  /**
   * Returns the configuration that the next start would have with these changes.
   * @throws Problem 409 for a setting of the environment, 422 when no service starts with them
   */
  preview(changes: Changes = {}): Config {
    for (const [name, value] of Object.entries(changes)) {
      const override = value === null ? null : this.findOverride(name)
      if (override !== null) throw setupProblem('setting_in_environment', { setting: override })
    }
    try {
      return readConfig(addSavedSettings(this.#host.env, merge(this.#read(), changes)))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw setupProblem('settings_unusable', { reason: error.message })
    }
  }

  /**
   * Stores the changes, which `preview` has accepted. Returns lines for the environment instead
   * when this service stores no settings.
   */
  async save(actorId: string, changes: Changes): Promise<Line[]> {
    this.preview(changes)
    if (!this.isStored) {
      return Object.entries(changes).flatMap(([name, value]) =>
        value === null ? [] : [{ name, value }],
      )
    }
    const { db, clock, config } = this.#platform
    await transaction(db, (tx) =>
      recordAudit(tx, {
        actorId,
        action: 'settings.saved',
        data: { names: Object.keys(changes).join(', ') },
        at: clock.now(),
      }),
    )
    // Read and written without a pause, so that two requests cannot lose each other's changes.
    writeSettingsFile(config.dataDir, config, merge(this.#read(), changes))
    return []
  }

  /** Encrypts the file with the current SECRET_KEY when it is plain or has the former one. */
  reseal(): void {
    if (!this.isStored) return
    const { config } = this.#platform
    const { saved, isCurrent } = readSettingsFile(config.dataDir, config)
    if (!isCurrent) writeSettingsFile(config.dataDir, config, saved)
  }

  restart(): void {
    this.#host.restart()
  }

  #read(): SavedSettings {
    const { config } = this.#platform
    return this.isStored ? readSettingsFile(config.dataDir, config).saved : {}
  }
}

function merge(saved: SavedSettings, changes: Changes): SavedSettings {
  const merged = Object.entries({ ...saved, ...changes })
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null))
}
