/**
 * The settings that the setup page saves: DATA_DIR/settings.json, which only its owner can read.
 * The environment takes precedence. With SECRET_KEY the file is encrypted, because backups of the
 * folder would otherwise reveal the keys of Stripe and of model vendors.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { deriveSecrets } from '../platform/secrets.ts'
import { ConfigError, type Env } from './reader.ts'

export type SavedSettings = Readonly<Record<string, string>>

/** The encryption keys of the file, the current one first. */
export type SealingKeys = { secretKey: string | null; secretKeyOld: string | null }

const PURPOSE = 'settings-file'
const MODE = 0o600

/** Settings about one subject, which are saved and replaced together. */
type Group = {
  /** Settings that this group may save. No other name is read from the file. */
  members: RegExp
  /**
   * When the environment sets one of these, all saved members are ignored: a webhook's secret
   * belongs to the account of the key.
   */
  leaders: readonly string[]
}

/** Price ids of plans. A catalogue may have plans of other names, and their prices. */
export const PRICE_NAME = /^PRICE_[A-Z0-9_]+_(MONTHLY|YEARLY)$/

const GROUPS: readonly Group[] = [
  {
    members: /^STRIPE_(SECRET_KEY|WEBHOOK_SECRET)$/,
    leaders: ['STRIPE_SECRET_KEY', 'PROCESSOR_SECRET_KEY'],
  },
  { members: PRICE_NAME, leaders: ['CATALOGUE'] },
  { members: /^(SMTP_URL|MAIL_FROM)$/, leaders: ['SMTP_URL'] },
  { members: /^[A-Z][A-Z0-9_]*_API_KEY$/, leaders: [] },
]

export const settingsPath = (dataDir: string) => join(dataDir, 'settings.json')

/** Returns true for names that the file may contain. */
export const isSavable = (name: string) => findGroup(name) !== undefined

const findGroup = (name: string) => GROUPS.find(({ members }) => members.test(name))

/**
 * Returns the environment with the saved settings that it does not set itself. A name from
 * `NAME_FILE` counts as set.
 */
export function addSavedSettings(env: Env, saved: SavedSettings): Env {
  const used = Object.entries(saved).filter(([name]) => findOverride(env, name) === null)
  return { ...env, ...Object.fromEntries(used) }
}

/** Returns the environment's setting that takes precedence over a saved one; null: none. */
export function findOverride(env: Env, name: string): string | null {
  const rivals = [name, ...(findGroup(name)?.leaders ?? [])]
  return (
    rivals
      .flatMap((rival) => [rival, `${rival}_FILE`])
      .find((rival) => Boolean(env[rival]?.trim())) ?? null
  )
}

/**
 * Returns the saved settings; none when there is no file. `isCurrent`: it is encrypted with the
 * current SECRET_KEY, or plain without one.
 * @throws ConfigError with one line that names the file
 */
export function readSettingsFile(
  dataDir: string,
  keys: SealingKeys,
): { saved: SavedSettings; isCurrent: boolean } {
  const path = settingsPath(dataDir)
  const fail = (reason: string): never => {
    throw new ConfigError(`${path} cannot be read: ${reason}`)
  }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { saved: {}, isCurrent: true }
    return fail(message)
  }
  const { content, isCurrent } = openContent(
    parseObject(text) ?? fail('it is no JSON object'),
    keys,
  )
  if (content === null) {
    return fail(
      'it is encrypted with another SECRET_KEY: set the former one as SECRET_KEY_OLD, or remove the file and enter the settings again',
    )
  }
  for (const [name, value] of Object.entries(content)) {
    if (!isSavable(name)) fail(`'${name}' is no setting of this file`)
    if (typeof value !== 'string') fail(`${name} is no text`)
  }
  return { saved: content as SavedSettings, isCurrent }
}

/** Returns null as content when no key opens it. */
function openContent(
  file: Record<string, unknown>,
  { secretKey, secretKeyOld }: SealingKeys,
): { content: Record<string, unknown> | null; isCurrent: boolean } {
  const { sealed } = file
  if (typeof sealed !== 'string') return { content: file, isCurrent: secretKey === null }
  for (const key of [secretKey, secretKeyOld]) {
    if (key === null) continue
    try {
      const content = parseObject(deriveSecrets(Buffer.from(key)).open(PURPOSE, sealed))
      return { content, isCurrent: key === secretKey }
    } catch {
      // The next key may open it.
    }
  }
  return { content: null, isCurrent: false }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** Replaces the file in one step, so that a crash leaves the old or the new one. */
export function writeSettingsFile(
  dataDir: string,
  { secretKey }: Pick<SealingKeys, 'secretKey'>,
  saved: SavedSettings,
): void {
  const path = settingsPath(dataDir)
  if (Object.keys(saved).length === 0) {
    rmSync(path, { force: true })
    return
  }
  const text = JSON.stringify(saved, null, 2)
  const content =
    secretKey === null
      ? text
      : JSON.stringify({ sealed: deriveSecrets(Buffer.from(secretKey)).seal(PURPOSE, text) })
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  // `wx` never follows a link that somebody put there.
  const file = openSync(draft, 'wx', MODE)
  try {
    writeFileSync(file, `${content}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  const folder = openSync(dataDir, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
