/** The root of a database's keys, as a backup holds it: sealed with the SECRET_KEY of the service, or plain. */
import { isSealed, openRoot, type RootKeys } from '#platform/secrets.ts'
import { recordsOf, type Snapshot } from './rows.ts'

export async function storedRoot(snapshot: Snapshot): Promise<Buffer> {
  const root = (await recordsOf(snapshot, 'secrets')).find(({ name }) => name === 'root')?.value
  if (!root) throw new Error('the database has no keys yet: start the service once')
  return Buffer.from(root, 'hex')
}

export const stateOf = (root: Buffer) => (isSealed(root) ? 'sealed' : 'plain')

/** Null where these keys open it, else why not. */
export function lockedOut(root: Buffer, keys: RootKeys): string | null {
  try {
    openRoot(root, keys)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
