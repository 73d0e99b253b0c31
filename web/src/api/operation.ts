/** The service's operations, by method and address as its description tells them: what each takes, and what it answers. */
import type { Paths } from './schema.d.ts'

export type Method = keyof Paths
/** `'/api/admin/users/{id}'`: of an operation whose body, if any, is JSON. */
export type Address<M extends Method> = {
  [A in keyof Paths[M]]: Paths[M][A] extends { form: unknown } ? never : A
}[keyof Paths[M]] &
  string
export type Reply<M extends Method, A extends keyof Paths[M]> = Paths[M][A] extends {
  reply: infer R
}
  ? R
  : never
export type Body<M extends Method, A extends keyof Paths[M]> = 'body' extends keyof Paths[M][A]
  ? Paths[M][A]['body' & keyof Paths[M][A]]
  : undefined

/** What goes into an address: its `{names}`, and what follows the question mark. */
export type Parameters<M extends Method, A extends keyof Paths[M]> = Pick<
  Paths[M][A],
  Extract<keyof Paths[M][A], 'path' | 'query'>
>
export type AnyParameters = { path?: Record<string, string>; query?: Record<string, Value> }
type Value = string | number | boolean | undefined

/** @throws Error when what fills a name is missing, or would be a step up: never another address than the one that was meant. */
export function buildAddress(
  address: string,
  { path = {}, query = {} }: AnyParameters = {},
): string {
  const filled = address.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = path[name] ?? ''
    if (['', '.', '..'].includes(part)) throw new Error(`no ${name} for ${address}`)
    return encodeURIComponent(part)
  })
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return text ? `${filled}?${text}` : filled
}
