import { verifyAudit } from '#audit/audit.ts'
import type { Context } from './context.ts'

/** `audit verify [POSITION:HASH]` walks the chain; with a head noted earlier it also shows that nothing before it was cut off. */
export async function run([verb, noted]: string[], { platform, print }: Context): Promise<number> {
  const match = /^(\d+):([\w-]{43})$/.exec(noted ?? '')
  if (verb !== 'verify' || (noted !== undefined && !match)) {
    print('Usage: audit verify [POSITION:HASH]')
    return 2
  }
  const { db } = await platform()
  const verdict = await verifyAudit(db, match ? { position: Number(match[1]), hash: match[2] ?? '' } : undefined)
  if (!verdict.intact) {
    print(`✖ the audit log is broken at entry ${verdict.position}: ${verdict.reason}`)
    return 1
  }
  print(`✔ ${verdict.entries} entries, unbroken`)
  if (verdict.entries > 0)
    print(`  head ${verdict.entries}:${verdict.head}  (keep it elsewhere, and pass it the next time)`)
  return 0
}
