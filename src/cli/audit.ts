import { readFileSync, writeFileSync } from 'node:fs'
import { type AuditHead, verifyAudit } from '#audit/audit.ts'
import type { Context } from './context.ts'

/**
 * `audit verify [NOTE]` verifies the chains. With a file (stored elsewhere) it also proves that
 * nothing was removed since the last run with that file, and writes the current ends of the chains
 * into it.
 */
export async function run(
  [verb, note, ...more]: string[],
  { platform, print }: Context,
): Promise<number> {
  if (verb !== 'verify' || more.length > 0) {
    print('Usage: audit verify [NOTE]')
    return 2
  }
  const heads = note === undefined ? [] : readNote(note)
  if (heads === null) {
    print(`✖ ${note} is no note of heads`)
    return 2
  }
  const { db } = await platform()
  const verdict = await verifyAudit(db, heads)
  if (!verdict.intact) {
    print(
      `✖ the audit log is broken at entry ${verdict.chain}:${verdict.position}: ${verdict.reason}`,
    )
    return 1
  }
  print(`✔ ${verdict.entries} entries in ${verdict.heads.length} chains, unbroken`)
  const { entries, since } = verdict.unlinked
  if (entries > 0) {
    print(
      `  ${entries} more, since ${since}, are not linked yet: one of these could be taken away unseen.`,
    )
    print(
      '  The service links them each second while it runs; what is older than that, it did not reach.',
    )
  }
  if (note !== undefined) {
    writeFileSync(
      note,
      verdict.heads.map(({ chain, position, hash }) => `${chain}:${position}:${hash}\n`).join(''),
    )
    print(`  note in ${note}`)
  }
  return 0
}

/** A line a chain; null where it is something else. Empty where there is no such file yet. */
function readNote(path: string): AuditHead[] | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const heads = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /^(\d{1,3}):(\d{1,15}):([\w-]{43})$/.exec(line))
  if (heads.some((match) => match === null)) return null
  return heads.flatMap((match) =>
    match === null
      ? []
      : [{ chain: Number(match[1]), position: Number(match[2]), hash: match[3] ?? '' }],
  )
}
