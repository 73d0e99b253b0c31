// Translates a chat request for a vendor, and its answer for the caller.
import { findKnownModel, type Route } from '#models/catalogue.ts'
import { type MediaNeeds, requirePricedMedia } from './media.ts'
import type { ModelRequest } from './model-request.ts'
import type { RoutingConfig } from './routing.ts'
import type { ChatRequest } from './vendors/chat-request.ts'
import { createStopCut, type StopCut } from './vendors/stop-cut.ts'
import type { NativeRequest, Vendor, VendorRequest } from './vendors/vendor.ts'

export type Speaker = Pick<Vendor, 'readAnswer' | 'createReader'> & {
  request: VendorRequest
  /** True when the vendor's events pass to the caller unchanged. */
  isNative: boolean
  /** Null when the vendor supports stop sequences. */
  stopCut: StopCut | null
}

/** Passes a native request on where its API is spoken, else translates. @throws VendorError */
export function createSpeaker(
  config: RoutingConfig,
  vendor: Vendor,
  route: Route,
  modelRequest: ModelRequest,
  media: MediaNeeds,
  isStream: boolean,
): Speaker {
  const { request, native } = modelRequest
  const own = vendor.native
  const speaker =
    native !== undefined && own?.api === native.api && own.speaks(route.model)
      ? {
          request: own.shape(route.model, native, isStream),
          readAnswer: own.readAnswer,
          createReader: own.createReader,
          isNative: true,
          stopCut: null,
        }
      : createTranslator(
          vendor,
          route.model,
          request ?? translateRequest(config, vendor, route, native),
          native?.untranslated ?? [],
          isStream,
        )
  // After the translation: a vendor's refusal of an input explains more than a missing price.
  requirePricedMedia(config, route, media)
  return speaker
}

function createTranslator(
  vendor: Vendor,
  model: string,
  request: ChatRequest,
  untranslated: readonly string[],
  isStream: boolean,
): Speaker {
  const { readAnswer, createReader } = vendor
  const stopCut = vendor.ignoresStop?.(model, request) ? createStopCut(request) : null
  const shaped = vendor.shape(model, request, isStream)
  return {
    request: { ...shaped, leftOut: [...untranslated, ...(shaped.leftOut ?? [])] },
    readAnswer: stopCut === null ? readAnswer : (body) => stopCut.cutAnswer(readAnswer(body)),
    createReader: stopCut === null ? createReader : () => stopCut.wrapReader(createReader()),
    isNative: false,
    stopCut,
  }
}

/** Agents send the same settings to every model; only those that this model supports are sent. */
function translateRequest(
  config: RoutingConfig,
  vendor: Vendor,
  { vendor: name, model }: Route,
  { limit, translated, safetyIdentifier }: NativeRequest,
): ChatRequest {
  const { reasoning_effort: effort, ...request } = translated()
  const { thinking } = vendor.capabilities(model)
  const outputTokensMax = findKnownModel(config, name, model)?.outputTokensMax ?? null
  const isCapped = limit !== null && outputTokensMax !== null
  return {
    ...request,
    max_completion_tokens: isCapped ? Math.min(limit, outputTokensMax) : limit,
    ...(safetyIdentifier && { wishes: { ...request.wishes, safetyIdentifier } }),
    ...(thinking && effort != null ? { reasoning_effort: effort } : {}),
  }
}
