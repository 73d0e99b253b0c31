/** Settings of the brand: its file (BRAND), and the name without one (PRODUCT_NAME). */
import { readBrandFile } from '../brand/file.ts'
import { LiveBrand } from '../brand/live.ts'
import { ConfigError, type Reader } from './reader.ts'

export function readBrand(read: Reader, productName: string, base: string): LiveBrand {
  const path = read.optional('BRAND')
  if (path === null) return new LiveBrand(productName, null, base)
  try {
    return new LiveBrand(productName, { path, form: readBrandFile(path) }, base)
  } catch (error) {
    throw new ConfigError(`BRAND (${path}) cannot be used: ${(error as Error).message}`)
  }
}
