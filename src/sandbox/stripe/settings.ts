/** Settings from the processor's page, kept across restarts. */
import type { ProcessorDeps } from './deps.ts'

export type Settings = {
  /** Of every sale that asks for tax. */
  taxPercent: number
  /** The end of a subscription whose last retry has failed. */
  afterRetries: 'cancel' | 'unpaid' | 'past_due'
} & Trouble

/** Disturbances of events on their way. */
export type Trouble = {
  /** Of each endpoint's, by chance; they stand in the list of events, and are not sent. */
  lostPercent: number
  delaySeconds: number
  /** Each is sent twice. */
  isDoubled: boolean
  /** Of those that wait, the newest first, one after the other. */
  isReversed: boolean
}

const USUAL: Settings = {
  taxPercent: 20,
  afterRetries: 'cancel',
  lostPercent: 0,
  delaySeconds: 0,
  isDoubled: false,
  isReversed: false,
}

export function settingsOf({ db }: Pick<ProcessorDeps, 'db'>): Settings {
  const rows = db.prepare('select name, value from stripe_settings').all() as {
    name: string
    value: string
  }[]
  return {
    ...USUAL,
    ...Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)])),
  }
}

export function changeSettings(
  { db }: Pick<ProcessorDeps, 'db'>,
  changes: Partial<Settings>,
): void {
  const insert = db.prepare(
    'insert into stripe_settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
  )
  for (const [name, value] of Object.entries(changes)) insert.run(name, JSON.stringify(value))
}
