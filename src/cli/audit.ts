import { readFileSync, writeFileSync } from 'node:fs'
import { type AuditHead, verifyAudit } from '#audit/audit.ts'
import type { Context } from './context.ts'

/**
 * `audit verify [NOTE]` verifies the hash chains. NOTE is a file that is stored elsewhere. With it,
 * the command also proves that no entry was removed since the last run. It then writes the current
 * heads of the chains to NOTE.
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
    print(`✖ ${note} was not written by this command: it contains no chain heads`)
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
      `  ${entries} more entries, since ${since}, are not linked yet: their removal would not be detected.`,
    )
    print('  A running service links new entries every second. Start it to link older ones.')
  }
  if (note !== undefined) {
    writeFileSync(
      note,
      verdict.heads.map(({ chain, position, hash }) => `${chain}:${position}:${hash}\n`).join(''),
    )
    print(`  wrote the heads to ${note}`)
  }
  return 0
}

/**
 * Reads one head per line. Returns null for other content, and no heads when the file is missing.
 */
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
