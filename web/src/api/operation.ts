/** Types of the service's operations by method and address: parameters, body and reply. */
import type { Paths } from './schema.d.ts'

export type Method = keyof Paths
/** Address such as `'/api/admin/users/{id}'` of an operation without a form body. */
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

/** Path and query parameters of an address. */
export type Parameters<M extends Method, A extends keyof Paths[M]> = Pick<
  Paths[M][A],
  Extract<keyof Paths[M][A], 'path' | 'query'>
>
export type AnyParameters = { path?: Record<string, string>; query?: Record<string, Value> }
type Value = string | number | boolean | undefined

/** @throws Error when a path parameter is missing, `.` or `..`, which would change the address */
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
