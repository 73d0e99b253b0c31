// Messages of the Model Context Protocol: JSON-RPC 2.0 over one POST each, without sessions. Since
// 2026-07-28, `_meta` names version and capabilities, and headers repeat the method; before,
// `initialize` came first. Source: modelcontextprotocol.io, specifications 2026-07-28 and
// 2025-11-25.

import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { isObject } from '#platform/json.ts'

/** Newest first. All versions after the first use `initialize`. */
export const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18'] as const
export const [MODERN, ...LEGACY] = VERSIONS

export type RequestId = string | number
export type Params = Record<string, unknown>
export type RpcRequest = {
  id: RequestId
  method: string
  params: Params
  /** Whether the request uses version 2026-07-28. */
  isModern: boolean
}

/** Codes of JSON-RPC 2.0, section 5.1, and those that the protocol adds. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
export const HEADER_MISMATCH = -32020
export const UNSUPPORTED_VERSION = -32022
/** Until 2025-11-25; since then a missing resource is an invalid parameter. */
export const RESOURCE_NOT_FOUND = -32002

/** `status`: the reply's HTTP status; 200 where the request itself was valid. */
export class RpcError extends Error {
  readonly code: number
  readonly status: number
  readonly data: object | undefined
  constructor(
    code: number,
    message: string,
    { status = 200, data }: { status?: number; data?: object } = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

/** A notification has no id; an old client's answer to the server has no method. */
const Envelope = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  // JavaScript would round a larger whole number to another request's id.
  id: Type.Optional(
    Type.Union([
      Type.String(),
      Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    ]),
  ),
  method: Type.Optional(Type.String()),
  params: Type.Optional(Type.Unknown()),
})
let envelope: ReturnType<typeof Compile<typeof Envelope>> | null = null

const META_VERSION = 'io.modelcontextprotocol/protocolVersion'
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** Null for a message that is accepted and not answered. @throws RpcError with 400 */
export function readMessage(body: unknown, headers: IncomingHttpHeaders): RpcRequest | null {
  if (Array.isArray(body))
    throw malformed(INVALID_REQUEST, 'Invalid Request: send one message at a time')
  // Compiled at the first request, so that a start compiles nothing that it may never need.
  envelope ??= Compile(Envelope)
  if (!envelope.Check(body)) throw malformed(INVALID_REQUEST, 'Invalid Request')
  const { id, method, params = {} } = body
  const named = headers['mcp-protocol-version']
  const ofHeader = named === undefined ? null : String(named)
  if (ofHeader !== null) requireVersion(ofHeader)

  if (method === undefined) {
    const isReply = ('result' in body || 'error' in body) && ofHeader !== MODERN
    if (isReply) return null
    throw malformed(INVALID_REQUEST, 'Invalid Request: a method is missing')
  }
  if (!isObject(params)) throw malformed(INVALID_PARAMS, 'Invalid params: should be an object')
  if (id === undefined) return null
  const isModern = checkVersion({ method, params }, headers, ofHeader)
  return { id, method, params, isModern }
}

/** Returns the id for an error reply; null where the message has no readable id. */
export function readId(body: unknown): RequestId | null {
  if (!isObject(body)) return null
  const { id } = body
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null
}

/** @returns whether the request uses the newest version */
function checkVersion(
  { method, params }: Pick<RpcRequest, 'method' | 'params'>,
  headers: IncomingHttpHeaders,
  ofHeader: string | null,
): boolean {
  const meta = isObject(params._meta) ? params._meta : {}
  const ofBody = meta[META_VERSION]
  if (ofBody === undefined) {
    if (ofHeader !== MODERN && method !== 'server/discover') return false
    throw malformed(INVALID_PARAMS, `Invalid params: _meta['${META_VERSION}'] is missing`)
  }
  if (typeof ofBody !== 'string')
    throw malformed(INVALID_PARAMS, `Invalid params: _meta['${META_VERSION}'] should be a string`)
  if (ofHeader !== null && ofHeader !== ofBody) {
    throw malformed(
      HEADER_MISMATCH,
      `Header mismatch: MCP-Protocol-Version is '${ofHeader}', _meta says '${ofBody}'`,
    )
  }
  requireVersion(ofBody)
  if (ofBody !== MODERN) return false
  if (!isObject(meta[META_CAPABILITIES]))
    throw malformed(
      INVALID_PARAMS,
      `Invalid params: _meta['${META_CAPABILITIES}'] should be an object`,
    )
  if (ofHeader === null)
    throw malformed(HEADER_MISMATCH, 'Header mismatch: MCP-Protocol-Version is missing')
  checkMirrored(headers, 'Mcp-Method', method)
  if (method === 'tools/call') checkMirrored(headers, 'Mcp-Name', params.name)
  if (method === 'resources/read') checkMirrored(headers, 'Mcp-Name', params.uri)
  return true
}

/** @throws RpcError that names the supported versions */
function requireVersion(requested: string): void {
  if ((VERSIONS as readonly string[]).includes(requested)) return
  const says = `Unsupported protocol version: this server speaks ${VERSIONS.join(', ')}`
  throw malformed(UNSUPPORTED_VERSION, says, { supported: VERSIONS, requested })
}

/** A proxy may have decided by the header. The method itself refuses values of other types. */
function checkMirrored(headers: IncomingHttpHeaders, name: string, value: unknown): void {
  if (typeof value !== 'string') return
  const header = headers[name.toLowerCase()]
  if (header === undefined) throw malformed(HEADER_MISMATCH, `Header mismatch: ${name} is missing`)
  if (decodeHeader(String(header)) === value) return
  throw malformed(HEADER_MISMATCH, `Header mismatch: ${name} is not what the body says`)
}

/** Decodes values that a header cannot contain, sent as `=?base64?…?=`. */
function decodeHeader(header: string): string {
  const [prefix, suffix] = ['=?base64?', '?=']
  if (!header.startsWith(prefix) || !header.endsWith(suffix)) return header
  return Buffer.from(header.slice(prefix.length, -suffix.length), 'base64').toString('utf8')
}

function malformed(code: number, message: string, data?: object): RpcError {
  return new RpcError(code, message, { status: 400, ...(data && { data }) })
}

export function noJson(): RpcError {
  return malformed(PARSE_ERROR, 'Parse error: the body is not valid JSON, or is nested too deeply')
}

export function success(id: RequestId, result: object): object {
  return { jsonrpc: '2.0', id, result }
}

export function failure(id: RequestId | null, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } }
}
