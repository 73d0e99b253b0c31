// Checks a reply against Stripe's API description (OpenAPI): required members, types, enums and
// nulls.
export type Schema = {
  $ref?: string
  type?: string
  enum?: unknown[]
  nullable?: boolean
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}
export type Spec = { components: { schemas: Record<string, Schema> } }

/** Required by the description, but returned only when expanded (so typed in the SDKs). */
const WHEN_ASKED = ['invoice.amount_paid_off_stripe']

/**
 * Returns one line per mismatch. Members that are not in the description are accepted, because the
 * API may be newer.
 */
export function findFaults(spec: Spec, schema: Schema, value: unknown, at: string): string[] {
  const { $ref, nullable, anyOf } = schema
  if ($ref)
    return findFaults(spec, spec.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, value, at)
  if (value === null) return nullable || !schema.type ? [] : [`${at} is null`]
  if (anyOf) {
    const each = anyOf.map((one) => findFaults(spec, one, value, at))
    return each.some((faults) => faults.length === 0)
      ? []
      : (each.sort((a, b) => a.length - b.length).at(0) ?? [])
  }
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${JSON.stringify(value)}`]
  if (schema.type === 'array' && Array.isArray(value))
    return value.flatMap((one) => findFaults(spec, schema.items ?? {}, one, `${at}[]`))
  if (!hasType(schema.type, value)) return [`${at} is no ${schema.type}`]
  if (schema.type !== 'object') return []
  const members = value as Record<string, unknown>
  return [
    ...(schema.required ?? [])
      .filter((name) => members[name] === undefined && !WHEN_ASKED.includes(`${at}.${name}`))
      .map((name) => `${at}.${name} is missing`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      members[name] === undefined ? [] : findFaults(spec, one, members[name], `${at}.${name}`),
    ),
  ]
}

function hasType(type: string | undefined, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value)
  return type === undefined || type === 'array' ? type === undefined : typeof value === type
}
