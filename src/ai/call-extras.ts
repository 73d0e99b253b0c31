// Finds what a vendor bills beside the tokens: searches, service tiers, compaction.
import { getVendor, type Route } from '#models/catalogue.ts'
import { type Extras, NO_EXTRAS } from './cost.ts'
import type { ModelRequest } from './model-request.ts'
import type { ChatRequest } from './vendors/chat-request.ts'
import {
  alwaysSearches,
  findSearches,
  findSwitches,
  NO_SEARCHES,
  requestsCompaction,
  WEB_SEARCH,
} from './vendors/extras.ts'
import type { NativeRequest, Vendor } from './vendors/vendor.ts'

type Targets = Readonly<Record<string, { vendor: Vendor }>>

/** `searchesMax` bounds the searches of each tool, as for `findSearches`. */
export function findExtras(
  targets: Targets,
  { request, native }: ModelRequest,
  routes: readonly Route[],
  searchesMax: number,
): Extras {
  return native === undefined
    ? findChatExtras(request, routes)
    : findNativeExtras(targets, native, routes, searchesMax)
}

function findNativeExtras(
  targets: Targets,
  { api, body }: NativeRequest,
  routes: readonly Route[],
  searchesMax: number,
): Extras {
  const switches = findSwitches(api, body)
  // A translated request loses the vendor's own tools.
  const isPassedOn = routes.some(({ vendor, model }) => {
    const own = getVendor(targets, vendor).vendor.native
    return own?.api === api && own.speaks(model)
  })
  const searches = isPassedOn ? findSearches(api, body, searchesMax) : NO_SEARCHES
  const readings = isPassedOn && requestsCompaction(api, body) ? 2 : 1
  if (switches.length === 0 && searches.calls === 0 && readings === 1) return NO_EXTRAS
  const dialect = api === 'messages' ? 'anthropic' : 'openai'
  return { dialect, switches, searches, readings, unreportedSearches: 0 }
}

function findChatExtras(request: ChatRequest, routes: readonly Route[]): Extras {
  const switches = findSwitches('responses', request)
  const areSearchesRequested = request.web_search_options != null
  const isSearch = areSearchesRequested || routes.some(({ model }) => alwaysSearches(model))
  if (switches.length === 0 && !isSearch) return NO_EXTRAS
  const calls = isSearch ? Math.max(1, request.n ?? 1) : 0
  return {
    dialect: 'openai',
    switches,
    searches: { ...WEB_SEARCH, calls },
    readings: 1,
    unreportedSearches: calls,
    areSearchesRequested,
  }
}
