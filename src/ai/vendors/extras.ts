// Features of a request that a vendor bills besides the list price of tokens: tiers and regions
// that multiply the price, and tools that the vendor runs. Features without a known price and
// unknown types of tools are rejected, so that no bill exceeds the ledger.

import type { Rates } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { listWords } from '#platform/words.ts'
import type { NativeApi } from './vendor.ts'
import { createRefusal } from './vendor-error.ts'

type Json = Record<string, unknown>

/** Values that keep the list price. An account's own settings are its owner's responsibility. */
const AT_LIST_PRICE: Record<NativeApi, Readonly<Record<string, readonly unknown[]>>> = {
  responses: {
    service_tier: ['auto', 'default', 'standard', 'on_demand'],
    'reasoning.mode': ['standard'],
  },
  messages: {
    service_tier: ['auto', 'standard_only'],
    speed: ['standard'],
    inference_geo: ['global'],
  },
}

const NOTHING: readonly string[] = []

/** Returns members that change the price, as in `Rates`; chat uses the names of responses. */
export function findSwitches(api: NativeApi, body: Json): readonly string[] {
  let found: string[] | null = null
  const members = AT_LIST_PRICE[api]
  for (const name in members) {
    const value = readValue(body, name)
    if (value === null || members[name]?.includes(value)) continue
    found ??= []
    found.push(`${name}:${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
  return found ?? NOTHING
}

function readValue(body: Json, name: string): unknown {
  const dot = name.indexOf('.')
  return (
    (dot === -1 ? body[name] : asObject(body[name.slice(0, dot)])?.[name.slice(dot + 1)]) ?? null
  )
}

/** @throws VendorError for a member that multiplies the price by an unknown factor */
export function requireRates(api: NativeApi, body: Json, rates: Rates): void {
  for (const name of findSwitches(api, body)) {
    if (Object.hasOwn(rates, name)) continue
    const member = name.slice(0, name.indexOf(':'))
    throw createRefusal(
      `'${member}' of '${name.slice(member.length + 1).slice(0, 100)}' is billed separately by this model's vendor at an unknown price: omit '${member}'`,
      member,
    )
  }
}

/** Anthropic may compact the conversation first, which requires an extra reading of it. */
export function requestsCompaction(api: NativeApi, body: Json): boolean {
  const edits = asObject(body.context_management)?.edits
  if (api !== 'messages' || !Array.isArray(edits)) return false
  return edits.some((edit) => String(asObject(edit)?.type).startsWith('compact'))
}

/** US dollars per call of a vendor's tool, and the approximate tokens of its results. */
type Charge = { usd: number; tokens: number }

/** Ten dollars per thousand searches, at OpenAI and at Anthropic. */
export const WEB_SEARCH: Charge = { usd: 0.01, tokens: 8_000 }
/** OpenAI bills its stored files per day to the operator's account. */
export const FILE_SEARCH: Charge = { usd: 0.002_5, tokens: 16_000 }

/** Types without a version. Null: no cost in addition to tokens. */
const TOOLS: Record<NativeApi, ReadonlyMap<string, Charge | null>> = {
  responses: new Map([
    ...listFree(
      'function custom namespace tool_search mcp local_shell shell apply_patch',
      'computer computer_use computer_use_preview',
    ),
    ['web_search', WEB_SEARCH],
    ['web_search_preview', WEB_SEARCH],
    ['file_search', FILE_SEARCH],
  ]),
  messages: new Map([
    ...listFree(
      'custom bash text_editor computer memory mcp_toolset web_fetch code_execution',
      'tool_search_tool_regex tool_search_tool_bm',
    ),
    ['web_search', WEB_SEARCH],
  ]),
}

function listFree(...types: string[]): [string, null][] {
  return listWords(...types).map((type) => [type, null])
}

/** With search or fetch tools since this version, Anthropic does not charge for code execution. */
const CODE_FREE_SINCE = 20_260_209

/** @throws VendorError for a tool that its vendor runs at an unknown price */
export function requirePricedTools(api: NativeApi, body: Json, thinks: boolean): void {
  const offered = readTools(api, body)
  let isCodeFree: boolean | null = null
  for (const tool of offered) {
    const type = readType(api, tool)
    if (type === null) continue
    if (!TOOLS[api].has(removeVersion(type))) throw createUnpricedError(type)
    if (api === 'messages' && removeVersion(type) === 'code_execution') {
      isCodeFree ??= offered.some(makesCodeFree)
      if (!isCodeFree)
        throw createUnpricedError(
          type,
          "add 'web_search_20260209' or 'web_fetch_20260209', with which it is free",
        )
    }
    if (type === 'shell' && (asObject(tool.environment)?.type ?? 'local') !== 'local') {
      throw createUnpricedError(type, "set its 'environment' to 'local'")
    }
    // It has a different price for models without reasoning.
    if (!thinks && removeVersion(type) === 'web_search_preview')
      throw createUnpricedError(type, "use 'web_search'")
  }
}

function createUnpricedError(type: string, instead = 'omit it') {
  return createRefusal(
    `The tool '${type.slice(0, 100)}' is billed separately by this model's vendor at an unknown price: ${instead}`,
    'tools',
  )
}

function makesCodeFree({ type }: Json): boolean {
  if (typeof type !== 'string') return false
  const name = removeVersion(type)
  return (
    (name === 'web_search' || name === 'web_fetch') &&
    Number(type.slice(name.length + 1)) >= CODE_FREE_SINCE
  )
}

/** Searches per call unless the caller sets a limit. */
export const SEARCHES_DEFAULT = 10

export type Searches = Charge & { calls: number }
export const NO_SEARCHES: Searches = { calls: 0, usd: 0, tokens: 0 }

/** Returns the number of searches allowed and their highest price (`most`: per tool or in all). */
export function findSearches(api: NativeApi, body: Json, most: number): Searches {
  let [calls, usd, tokens] = [0, 0, 0]
  for (const tool of readTools(api, body)) {
    const type = readType(api, tool)
    const charge = type === null ? null : (TOOLS[api].get(removeVersion(type)) ?? null)
    if (charge === null) continue
    calls += capSearches(tool.max_uses, most)
    usd = Math.max(usd, charge.usd)
    tokens = Math.max(tokens, charge.tokens)
  }
  if (calls === 0) return NO_SEARCHES
  // In responses, all tools share one bound.
  return {
    calls: api === 'responses' ? capSearches(body.max_tool_calls, most) : calls,
    usd,
    tokens,
  }
}

/** These models search once for each answer. */
export function alwaysSearches(model: string): boolean {
  return model.includes('-search-api')
}

/** Returns the body with the searches that `findSearches` counted; unchanged where it has none. */
export function withSearches(api: NativeApi, body: Json, most: number): Json {
  if (findSearches(api, body, most) === NO_SEARCHES) return body
  if (api === 'responses')
    return { ...body, max_tool_calls: capSearches(body.max_tool_calls, most) }
  const tools = readTools(api, body).map((tool) => {
    const isSearch = typeof tool.type === 'string' && removeVersion(tool.type) === 'web_search'
    return isSearch ? { ...tool, max_uses: capSearches(tool.max_uses, most) } : tool
  })
  return { ...body, tools }
}

function capSearches(requested: unknown, most: number): number {
  return Math.min(
    typeof requested === 'number' && requested >= 1 ? requested : SEARCHES_DEFAULT,
    most,
  )
}

/** OpenAI's tools also appear in namespaces and in the conversation. */
function readTools(api: NativeApi, { tools, input }: Json): Json[] {
  const own = Array.isArray(tools) ? (tools as Json[]) : []
  if (api === 'messages') return own
  const all: Json[] = []
  // Pushes one by one: a list of arguments has to fit the stack.
  const add = (list: unknown) => {
    if (Array.isArray(list)) for (const tool of list) all.push(asObject(tool) ?? {})
  }
  add(own)
  for (const item of Array.isArray(input) ? (input as Json[]) : []) {
    if (item.type === 'additional_tools' || item.type === 'tool_search_output') add(item.tools)
  }
  for (const tool of all) add(tool.tools)
  return all
}

/** Returns null for a tool of the client. */
function readType(api: NativeApi, { type }: Json): string | null {
  if (type == null && api === 'messages') return null
  return typeof type === 'string' ? type : JSON.stringify(type ?? null)
}

/** `web_search_20260209`, `web_search_2025_08_26` → `web_search`; also `bm25` → `bm`. */
function removeVersion(type: string): string {
  let end = type.length
  while (end > 0 && isVersionCode(type.charCodeAt(end - 1))) end--
  return end === 0 || end === type.length ? type : type.slice(0, end)
}

const isVersionCode = (code: number) => code === 95 || (code >= 48 && code <= 57)
