// Finds ids of objects in the operator's account with a vendor: files, stored prompts, vector
// stores, containers, and servers that the vendor calls. They are rejected unless ALLOW has
// vendor_objects. The trap: tool schemas and call inputs are the client's and may use these names.
import { asObject } from '#platform/json.ts'
import { wordSet } from '#platform/words.ts'
import type { NativeApi } from './vendor.ts'
import { createRefusal, type VendorError } from './vendor-error.ts'

type Json = Record<string, unknown>

const NAMED_AT_TOP: Record<NativeApi, readonly string[]> = {
  responses: ['prompt'],
  messages: ['container', 'mcp_servers'],
}

/** @throws VendorError 400 that names the member */
export function requireNoAccountObjects(api: NativeApi, body: Json): void {
  for (const name of NAMED_AT_TOP[api]) {
    if (!isEmpty(body[name])) throw createAccountObjectError(name)
  }
  for (const name of ['tools', 'input', 'messages', 'system']) requireNoIds(body[name])
}

const IDS = wordSet(
  'file_id file_ids vector_store_ids container_id skill_id connector_id tunnel_id',
)
/** The client's own data, and sources that an earlier answer cites. */
const OPAQUE = wordSet(
  'parameters input_schema input_examples arguments annotations citations results',
)

/** @throws VendorError 400 that names the member */
export function requireNoIds(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) requireNoIds(item)
    return
  }
  const object = asObject(value)
  if (object === null) return
  const type = typeof object.type === 'string' ? object.type : ''
  if (type === 'mcp') throw createAccountObjectError(type)
  // Returned by the client from an earlier answer of the vendor.
  if (type.endsWith('code_execution_tool_result')) return
  for (const name in object) {
    if (IDS.has(name) && !isEmpty(object[name])) throw createAccountObjectError(name)
    if (OPAQUE.has(name) || (name === 'input' && type.endsWith('tool_use'))) continue
    requireNoIds(object[name])
  }
}

/** Google identifies an account's files by URL. @throws VendorError 400 */
export function requirePublicFiles(parts: readonly Json[]): void {
  for (const { fileData, functionResponse } of parts) {
    const uri = asObject(fileData)?.fileUri
    if (typeof uri === 'string' && !isPublic(uri)) throw createAccountObjectError(uri.slice(0, 100))
    const inner = asObject(functionResponse)?.parts
    if (Array.isArray(inner)) requirePublicFiles(inner)
  }
}

function isPublic(uri: string): boolean {
  const url = URL.parse(uri)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.hostname.replace(/\.$/, '') !== 'generativelanguage.googleapis.com'
}

function isEmpty(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0)
}

function createAccountObjectError(name: string): VendorError {
  return createRefusal(
    `'${name}' names an object or a server in the operator's account with the vendor, which this service does not pass on: send the content itself`,
    name,
  )
}
