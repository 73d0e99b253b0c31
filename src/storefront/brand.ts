import type { Config } from '#config/config.ts'

/** Returns the product's display name, with a capital first letter. */
export function getBrand({ brand: name }: Config): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
