/**
 * Journal of uploaded files, one line of JSON each, written immediately: a killed sync continues
 * where it stopped. A line cut by a crash is skipped. Without the journal every file is uploaded
 * again and replaces its own document.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export type Sent = {
  service: string
  external_id: string
  hash: string
  /** The service's document under this name, or null. */
  document_id: string | null
  /** The service rejected these bytes and would reject them again. */
  refused?: { reason: string; isSkipped: boolean }
  /** The id of the background job that stores the file. */
  job?: string
}

export function openJournal(file: string, service: string) {
  const known = new Map<string, Sent>()
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const sent = parsed(line)
    if (sent !== null) known.set(computeKey(sent), sent)
  }
  const keyOfId = (external_id: string) => computeKey({ service, external_id })
  let needsLine = existsSync(file) && !readFileSync(file, 'utf8').endsWith('\n')

  return {
    find: (externalId: string): Sent | undefined => known.get(keyOfId(externalId)),
    note(sent: Omit<Sent, 'service'>): void {
      const line = { service, ...sent }
      known.set(computeKey(line), line)
      appendFileSync(file, `${needsLine ? '\n' : ''}${JSON.stringify(line)}\n`)
      needsLine = false
    },
    /** Removes duplicate lines of these files. Keeps the lines of other services and names. */
    tidy(isOurs: (externalId: string) => boolean, kept: ReadonlySet<string>): void {
      const lines = [...known.values()].filter(
        (sent) =>
          sent.service !== service || !isOurs(sent.external_id) || kept.has(sent.external_id),
      )
      writeFileSync(`${file}.new`, lines.map((sent) => `${JSON.stringify(sent)}\n`).join(''))
      renameSync(`${file}.new`, file)
    },
  }
}

const computeKey = ({ service, external_id }: Pick<Sent, 'service' | 'external_id'>) =>
  `${service}\n${external_id}`

function parsed(line: string): Sent | null {
  try {
    const sent = JSON.parse(line) as Sent | null
    return typeof sent?.external_id === 'string' && typeof sent.hash === 'string' ? sent : null
  } catch {
    return null
  }
}
