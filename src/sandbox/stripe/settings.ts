/** Settings of the processor's page, stored in the database. */
import type { ProcessorDeps } from './deps.ts'

export type Settings = {
  /** Tax rate of every sale that requests tax. */
  taxPercent: number
  /** Outcome for a subscription whose last retry failed. */
  afterRetries: 'cancel' | 'unpaid' | 'past_due'
}

const USUAL: Settings = { taxPercent: 20, afterRetries: 'cancel' }

export function readSettings({ db }: Pick<ProcessorDeps, 'db'>): Settings {
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
