/** The protocol's methods: their versions, and how long a client may cache their results. */
import type { RagDeps } from '../deps.ts'
import type { RagCall } from '../metering.ts'
import { DATA_NOTICE } from '../tools/reading.ts'
import {
  INVALID_PARAMS,
  LEGACY,
  METHOD_NOT_FOUND,
  type Params,
  RpcError,
  type RpcRequest,
  success,
  VERSIONS,
} from './protocol.ts'
import { listResources, readResource, TEMPLATES } from './resources.ts'
import { callTool, listTools } from './tools.ts'

type Context = { deps: RagDeps; call: RagCall; isModern: boolean }
type Method = {
  /** Set for methods that not every version has. */
  only?: 'modern' | 'legacy'
  /** `public`: the same for every user. */
  cache?: { ttlMs: number; cacheScope: 'public' | 'private' }
  answer(context: Context, params: Params): object | Promise<object>
}

/** Changes only with a new version of this service. */
const UNTIL_RELEASED = { ttlMs: 3_600_000, cacheScope: 'public' } as const
/** The tools depend on the key's permissions, which its owner may change. */
const UNTIL_CHANGED = { ttlMs: 60_000, cacheScope: 'private' } as const
/** A deleted document disappears at once. */
const NOT_KEPT = { ttlMs: 0, cacheScope: 'private' } as const

const CAPABILITIES = { tools: {}, resources: {} }
const INSTRUCTIONS = `The user’s own documents: search them, read them, ask questions of them, add to them. ${DATA_NOTICE}`

const METHODS: Record<string, Method> = {
  'server/discover': {
    only: 'modern',
    cache: UNTIL_RELEASED,
    answer: () => ({
      supportedVersions: VERSIONS,
      capabilities: CAPABILITIES,
      instructions: INSTRUCTIONS,
    }),
  },
  initialize: {
    only: 'legacy',
    answer: ({ deps }, { protocolVersion }) => ({
      protocolVersion: LEGACY.find((version) => version === protocolVersion) ?? LEGACY[0],
      capabilities: CAPABILITIES,
      serverInfo: serverInfo(deps),
      instructions: INSTRUCTIONS,
    }),
  },
  ping: { only: 'legacy', answer: () => ({}) },
  'tools/list': {
    cache: UNTIL_CHANGED,
    answer: ({ call }, params) => onePage(params, { tools: listTools(call.caller) }),
  },
  'tools/call': { answer: ({ deps, call }, params) => callTool(deps, call, params) },
  'resources/list': {
    cache: NOT_KEPT,
    answer: ({ deps, call }, params) => listResources(deps, call.caller.userId, params),
  },
  'resources/templates/list': {
    cache: UNTIL_RELEASED,
    answer: (_, params) => onePage(params, { resourceTemplates: TEMPLATES }),
  },
  'resources/read': {
    cache: NOT_KEPT,
    answer: ({ deps, call, isModern }, params) =>
      readResource(deps, call.caller.userId, params, { isModern }),
  },
}

export const METHOD_NAMES = Object.keys(METHODS)

/** @throws RpcError; Problem for failures outside of the protocol */
export async function respond(
  deps: RagDeps,
  call: RagCall,
  { id, method: name, params, isModern }: RpcRequest,
): Promise<object> {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  const isThere =
    method !== undefined && (method.only === undefined || (method.only === 'modern') === isModern)
  if (!isThere)
    throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${name}`, {
      status: isModern ? 404 : 200,
    })
  const result = await method.answer({ deps, call, isModern }, params)
  if (!isModern) return success(id, result)
  const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo(deps) }
  return success(id, { resultType: 'complete', ...result, ...method.cache, _meta })
}

/** A list that fits on one page has no cursor. */
function onePage({ cursor }: Params, list: object): object {
  if (cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'Invalid params: no such cursor')
  return list
}

function serverInfo({ brand, version, urls }: Pick<RagDeps, 'brand' | 'version' | 'urls'>): object {
  const icon = brand.findImage('square')
  return {
    name: brand.slug,
    title: `${brand.name} documents`,
    version,
    websiteUrl: urls.frontend,
    icons: icon && [{ src: `${urls.base}${brand.iconPath}`, mimeType: icon.type }],
  }
}
