/** The root of a database's keys, as its tables store it: sealed with SECRET_KEY, or plain. */
import { openRoot, type RootKeys } from '#platform/secrets.ts'
import { readRecords, type Snapshot } from './table-sums.ts'

export async function readRootKey(snapshot: Snapshot): Promise<Buffer> {
  const root = (await readRecords(snapshot, 'secrets')).find(({ name }) => name === 'root')?.value
  if (!root) throw new Error('the database has no keys yet: start the service once')
  return Buffer.from(root, 'hex')
}

/**
 * Returns null when the keys of the settings open the root, otherwise the reason. Texts are hex.
 */
export function explainLockedRoot(root: Buffer | string, keys: RootKeys): string | null {
  try {
    openRoot(typeof root === 'string' ? Buffer.from(root, 'hex') : root, keys)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
