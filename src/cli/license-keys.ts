// `license-keys` lists and changes the keys that sign offline licenses and updates. Running services
// apply a change within a minute.
import {
  listSigningKeys,
  removeSigningKey,
  rotateSigningKey,
} from '#storefront/licences/signing-keys.ts'
import type { Context } from './context.ts'

export const USAGE = `Usage: license-keys              lists the keys, newest first; the first one signs
       license-keys rotate       adds a key, which signs from now on; old licenses stay valid
       license-keys remove KID   stops publishing an old key; licenses that it signed become invalid`

export async function run(args: string[], { platform, print }: Context): Promise<number> {
  const [verb, kid, ...rest] = args
  const isUsed = rest.length === 0 && (verb === 'remove') === (kid !== undefined)
  if (!isUsed || (verb !== undefined && verb !== 'rotate' && verb !== 'remove')) {
    print(USAGE)
    return 2
  }
  const opened = await platform()
  if (verb === 'rotate') {
    print(`${await rotateSigningKey(opened)} signs from now on`)
    return 0
  }
  if (kid !== undefined) {
    const isRemoved = await removeSigningKey(opened.db, kid)
    print(isRemoved ? `${kid} is removed` : `${kid} is no old key`)
    return isRemoved ? 0 : 1
  }
  const keys = await listSigningKeys(opened.db)
  if (keys.length === 0) print('The first license will create a key')
  for (const { kid: name, created_at } of keys)
    print(`${name}  since ${created_at}${name === keys[0]?.kid ? '  signs' : ''}`)
  return 0
}
