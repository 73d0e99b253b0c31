// Prints a value for SECRET_KEY: 256 random bits. Reads and stores nothing.
import { randomBytes } from 'node:crypto'
import type { Context } from './context.ts'

export async function run(_args: string[], { print }: Pick<Context, 'print'>): Promise<number> {
  print(randomBytes(32).toString('base64url'))
  return 0
}
