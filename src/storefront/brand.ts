import type { Config } from '#config/config.ts'

/** The product's name as people read it: its first letter is a capital. */
export function getBrand({ brand: name }: Config): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
