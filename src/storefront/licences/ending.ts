import type { Db } from '#platform/db/db.ts'
import { removeTokens } from '../downloads/token-store.ts'
import { type ChainKey, update } from '../purchases/store.ts'
import { removeAll } from './store.ts'

/**
 * Removes everything that a license opens, once no purchase of its chain is valid. A restored
 * purchase starts anew: its machines activate again.
 */
export async function endLicense(tx: Db, chain: ChainKey): Promise<void> {
  await removeAll(tx, chain)
  await removeTokens(tx, chain)
  await update(tx, { owner: chain.owner, id: chain.chain_id }, { activation_count: 0 })
}
