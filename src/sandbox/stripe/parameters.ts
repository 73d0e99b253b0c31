/**
 * Reads parameters as the processor does. Rejects unknown parameters, so that spelling mistakes are
 * found immediately.
 */
import type { Form, FormValue } from '../form.ts'
import { badParameter, missingParameter } from './fault.ts'

/**
 * Rejects other parameters, including those of the real API that the sandbox lacks; if ignored,
 * they would seem to work. Accepts parameters that turn a feature off.
 */
export function allowSupported(form: Form, names: readonly string[], within = ''): void {
  for (const [name, value] of Object.entries(form)) {
    if (name === 'expand' || names.includes(name) || isDisabled(value)) continue
    const param = within === '' ? name : `${within}[${name}]`
    const message = `Received unknown parameter: ${param} (not supported by the sandbox)`
    throw badParameter(param, message, 'parameter_unknown')
  }
}

const isDisabled = (value: FormValue | undefined) =>
  typeof value === 'object' &&
  !Array.isArray(value) &&
  Object.keys(value).join() === 'enabled' &&
  value.enabled === 'false'

export function text(form: Form, name: string): string {
  const value = optionalText(form, name)
  if (value === null) throw missingParameter(name)
  return value
}

/** An empty value clears (null); a missing one keeps `before`. */
export function optionalText(
  form: Form,
  name: string,
  before: string | null = null,
): string | null {
  const value = form[name]
  if (value === undefined) return before
  if (typeof value !== 'string') throw badParameter(name, `Invalid string: ${name}`)
  return value === '' ? null : value
}

export function flag(form: Form, name: string, before = false): boolean {
  const value = form[name]
  if (value === undefined) return before
  if (value !== 'true' && value !== 'false')
    throw badParameter(name, `Invalid boolean: ${JSON.stringify(value)}`)
  return value === 'true'
}

export function integer(form: Form, name: string): number | undefined {
  const value = form[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !/^-?\d{1,12}$/.test(value)) {
    throw badParameter(
      name,
      `Invalid integer: ${typeof value === 'string' ? value : name}`,
      'parameter_invalid_integer',
    )
  }
  return Number(value)
}

export function group(form: Form, name: string): Form {
  const value = form[name]
  if (value === undefined || value === '') return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw badParameter(name, `Invalid object: ${name}`)
  return value
}

export function groups(form: Form, name: string): Form[] {
  const value = form[name]
  if (value === undefined || value === '') return []
  if (!Array.isArray(value)) throw badParameter(name, `Invalid array: ${name}`)
  return value.map((one) => {
    if (typeof one !== 'object' || Array.isArray(one))
      throw badParameter(name, `Invalid object in ${name}`)
    return one
  })
}

export function texts(value: FormValue | undefined): string[] {
  if (value === undefined) return []
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
}

/** Keys with an empty value are removed; an empty `metadata` removes all. */
export function mergeMetadata(
  before: Record<string, string> | null,
  change: FormValue | undefined,
): Record<string, string> {
  if (change === undefined) return before ?? {}
  if (change === '') return {}
  if (typeof change !== 'object') throw badParameter('metadata', 'Invalid metadata')
  const merged = { ...before }
  for (const [key, value] of Object.entries(change)) {
    if (typeof value !== 'string' || value.length > 500 || key.length > 40)
      throw badParameter(
        `metadata[${key}]`,
        'Metadata: keys up to 40 and values up to 500 characters',
      )
    if (value === '') delete merged[key]
    else merged[key] = value
  }
  if (Object.keys(merged).length > 50)
    throw badParameter('metadata', 'Metadata holds up to 50 keys')
  return merged
}
