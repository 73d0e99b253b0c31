import type { Config } from '#config/config.ts'
import { folderPlace } from './folder-place.ts'
import type { Place } from './place.ts'
import { bucketPlace } from './s3-place.ts'

/** @throws Error with a sentence where the address is no place. */
export function openPlace(address: string, { products: { s3 } }: Pick<Config, 'products'>): Place {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) return folderPlace(address)
  if (!address.startsWith('s3://'))
    throw new Error(`'${address}' is no place: give a folder, or s3://bucket/prefix`)
  return bucketPlace(address, s3)
}
