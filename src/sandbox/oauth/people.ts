/** The accounts at the sandbox's sign-in providers, including those that testers add. */
import { createHash } from 'node:crypto'
import { atomically, type SandboxDatabase } from '../database.ts'

export type Provider = 'google' | 'github'
export type Person = {
  provider: Provider
  subject: string
  email: string
  verified: boolean
  name: string
}

type Row = { provider: Provider; subject: string; email: string; is_verified: number; name: string }

const KNOWN: readonly { name: string; email: string; verified: boolean }[] = [
  { name: 'Ada Lovelace', email: 'ada@example.com', verified: true },
  { name: 'Grace Hopper', email: 'grace@example.com', verified: true },
  { name: 'Mallory Unproven', email: 'mallory@example.com', verified: false },
]

export function stockPeople(db: SandboxDatabase): void {
  atomically(db, () => {
    for (const provider of ['google', 'github'] as const) {
      for (const person of KNOWN) {
        if (!listPeople(db, provider).some((known) => known.email === person.email))
          addPerson(db, provider, person)
      }
    }
  })
}

export function listPeople(db: SandboxDatabase, provider: Provider): Person[] {
  return (
    db.prepare('select * from oauth_people where provider = ? order by seq').all(provider) as Row[]
  ).map(toPerson)
}

export function findPerson(
  db: SandboxDatabase,
  provider: Provider,
  subject: string,
): Person | undefined {
  const row = db
    .prepare('select * from oauth_people where provider = ? and subject = ?')
    .get(provider, subject) as Row | undefined
  return row && toPerson(row)
}

/** One account per address. The latest name and verification apply. */
export function addPerson(
  db: SandboxDatabase,
  provider: Provider,
  { name, email, verified }: Omit<Person, 'provider' | 'subject'>,
): Person {
  const subject = toSubject(provider, email)
  db.prepare(
    `insert into oauth_people (provider, subject, email, is_verified, name) values (?, ?, ?, ?, ?)
     on conflict (provider, subject) do update set is_verified = excluded.is_verified, name = excluded.name`,
  ).run(provider, subject, email, verified ? 1 : 0, name)
  return { provider, subject, email, verified, name }
}

/**
 * Google's subjects have 21 digits, GitHub's ids fewer. An address has a different id at each
 * provider.
 */
function toSubject(provider: Provider, email: string): string {
  const number = createHash('sha256')
    .update(`${provider} ${email.toLowerCase()}`)
    .digest()
    .readBigUInt64BE()
  return provider === 'google'
    ? `1${number.toString().padStart(20, '0')}`
    : String(10_000_000 + Number(number % 90_000_000n))
}

const toPerson = (row: Row): Person => ({
  provider: row.provider,
  subject: row.subject,
  email: row.email,
  verified: row.is_verified === 1,
  name: row.name,
})
