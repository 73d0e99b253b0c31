/**
 * Writes docs/openapi.json, docs/storefront.openapi.json and web/src/api/schema.d.ts from the routes:
 * `npm run docs`. `npm run check` fails when one is stale. It starts a separate service in a temporary
 * folder with only DEBUG set, so every machine writes the same files.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '#config/config.ts'
import type { Operation } from '#platform/http/openapi.ts'
import type { Description, Schema } from './api-schema.ts'
import { createService } from './service.ts'

const ROOT = join(import.meta.dirname, '..', '..')
export const OPENAPI_FILE = join(ROOT, 'docs', 'openapi.json')
export const STOREFRONT_FILE = join(ROOT, 'docs', 'storefront.openapi.json')
export const TYPES_FILE = join(ROOT, 'web', 'src', 'api', 'schema.d.ts')

type Parameter = NonNullable<Operation['parameters']>[number]

/** Returns the API descriptions of both servers, as their /openapi.json returns them with DEBUG. */
export async function descriptions(): Promise<{ api: Description; storefront: Description }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-docs-'))
  const config = readConfig({
    DEBUG: 'true',
    DATA_DIR: dataDir,
    SERVE: 'api,storefront',
    LOG_LEVEL: 'silent',
  })
  const service = await createService(config, { log: pino({ level: 'silent' }), userApp: false })
  try {
    const [api, storefront] = [service.api, service.storefront].map(async (app) => {
      await app?.ready()
      return JSON.parse(JSON.stringify(app?.swagger())) as Description
    })
    return { api: (await api) as Description, storefront: (await storefront) as Description }
  } finally {
    await service.close(0)
    rmSync(dataDir, { recursive: true, force: true })
  }
}

export function descriptionText(description: Description): string {
  return `${JSON.stringify(description, null, 2)}\n`
}

/** Returns the named schemas and `Paths` as TypeScript types. */
export function typesText({ components, paths }: Description): string {
  const types = Object.entries({ ...components.schemas, Paths: schemaOfPaths(paths) }).map(
    ([name, schema]) => `${comment(schema, '')}export type ${name} = ${printType(schema, '')}\n`,
  )
  return `// Made from docs/openapi.json by \`npm run docs\`; not for editing.\n\n${types.join('\n')}`
}

function schemaOfPaths(paths: Description['paths']): Schema {
  const methods: Record<string, Record<string, Schema>> = {}
  for (const [address, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      methods[method.toUpperCase()] ??= {}
      Object.assign(methods[method.toUpperCase()] ?? {}, {
        [literal(address)]: schemaOfOperation(operation),
      })
    }
  }
  return {
    ...whole(
      Object.fromEntries(
        Object.entries(methods).map(([method, addresses]) => [method, whole(addresses)]),
      ),
    ),
    description:
      'By method and address: what goes in, and the JSON that comes back when all went well.',
  }
}

function schemaOfOperation({ parameters = [], requestBody, responses }: Operation): Schema {
  const readParameters = (place: string): Schema | undefined => {
    const found = parameters.filter((one) => one.in === place)
    const named = (some: Parameter[]) => some.map(({ name = '' }) => name)
    if (found.length === 0) return undefined
    const properties = Object.fromEntries(found.map(({ name, schema }) => [name, schema as Schema]))
    return { type: 'object', properties, required: named(found.filter(({ required }) => required)) }
  }
  const [path, query] = [readParameters('path'), readParameters('query')]
  const { 'application/json': body, 'multipart/form-data': form } = requestBody?.content ?? {}
  const done = Object.entries(responses).find(
    ([status, { content }]) => status.startsWith('2') && content?.[JSON_TYPE],
  )
  const properties = {
    ...(path && { path }),
    ...(query && { query }),
    ...(body && { body: body.schema as Schema }),
    ...(form && { form: form.schema as Schema }),
    reply: (done?.[1].content?.[JSON_TYPE]?.schema as Schema | undefined) ?? { type: 'null' },
  }
  const optional = [!query?.required?.length && 'query', !requestBody?.required && 'body']
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  }
}

const whole = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Covers the subset of JSON Schema that the routes use; everything else becomes `unknown`. */
function printType(schema: Schema, indent: string): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'unknown'
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  if (schema.anyOf) return union(schema.anyOf.map((one) => printType(one, indent)))
  if (schema.allOf) return schema.allOf.map((one) => printType(one, indent)).join(' & ')
  return union([schema.type ?? 'unknown'].flat().map((type) => typeNamed(type, schema, indent)))
}

function typeNamed(type: string, schema: Schema, indent: string): string {
  if (type === 'integer') return 'number'
  if (type === 'array') return `Array<${printType(schema.items ?? {}, indent)}>`
  if (type !== 'object') return type
  const { properties = {}, required = [], additionalProperties: rest } = schema
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${comment(field, inner)}${inner}${name}${required.includes(name) ? '' : '?'}: ${printType(field, inner)}\n`,
  )
  if (fields.length === 0) return 'Record<string, unknown>'
  return `{\n${fields.join('')}${rest ? `${inner}[other: string]: unknown\n` : ''}${indent}}`
}

const JSON_TYPE = 'application/json'
const literal = (word: unknown) =>
  typeof word === 'string' ? `'${word.replaceAll("'", "\\'")}'` : String(word)
const union = (types: string[]) => [...new Set(types)].join(' | ')
const comment = ({ description }: Schema, indent: string) =>
  description ? `${indent}/** ${description.replaceAll('*/', '* /')} */\n` : ''

if (import.meta.main) void write()

async function write(): Promise<void> {
  const { api, storefront } = await descriptions()
  writeFileSync(OPENAPI_FILE, descriptionText(api))
  writeFileSync(STOREFRONT_FILE, descriptionText(storefront))
  writeFileSync(TYPES_FILE, typesText(api))
}
