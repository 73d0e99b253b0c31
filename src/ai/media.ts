// Sound, images and video: which media a request contains and requests, and the price of their
// tokens. The trap: vendors charge images and video like text unless their list says otherwise, but
// never sound.

import {
  type Catalogue,
  findKnownModel,
  getVendor,
  MEDIA,
  type Medium,
  type Price,
  type Route,
} from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { guessFile } from './estimate.ts'
import type { ChatRequest, ContentPart } from './vendors/chat-request.ts'
import type { MediaTokens, NativeRequest, Usage } from './vendors/vendor.ts'
import { createRefusal } from './vendors/vendor-error.ts'

/** `input`: approximate tokens of the prompt. `output`: media beside the answer's text. */
export type MediaNeeds = {
  input: Readonly<Partial<Record<Medium, number>>>
  output: readonly Medium[]
}
export const NO_MEDIA: MediaNeeds = { input: {}, output: [] }

type Rate = Pick<Price, 'input' | 'output' | 'cached'>
type Part = 'input' | 'output' | 'cached'
type MediaRequest =
  | { request: ChatRequest; native?: undefined }
  | { request?: undefined; native: NativeRequest }

/** Returns US dollars per million tokens, or null. `rate`: the price of text in this call. */
export function findMediaPrice(
  price: Pick<Price, 'media'>,
  rate: Rate,
  medium: Medium,
  part: Part,
): number | null {
  const own = price.media?.[medium]
  const isFree = rate.input === 0 && rate.output === 0
  if (own === 'as-text' || isFree) return rate[part]
  if (own?.[part] !== undefined) return own[part]
  if (part === 'cached' && own?.input !== undefined) return own.input
  return part !== 'output' && medium !== 'audio' ? rate[part] : null
}

/** Returns the highest listed price, for media tokens whose model has no price for them. */
export function findHighestMediaPrice(
  { vendors }: Pick<Catalogue, 'vendors'>,
  medium: Medium,
  part: Part,
): number {
  const name = part === 'output' ? part : 'input'
  let most = 0
  for (const { models, prices } of Object.values(vendors)) {
    const listed = [
      ...models.flatMap(({ price }) => price ?? []),
      ...(prices?.prices('chat') ?? []),
    ]
    for (const { media } of listed) {
      const own = media?.[medium]
      if (own !== undefined && own !== 'as-text') most = Math.max(most, own[name] ?? 0)
    }
  }
  return most
}

export function measureMedia(modelRequest: MediaRequest): MediaNeeds {
  let input: Partial<Record<Medium, number>> | null = null
  for (const content of collectContents(modelRequest)) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      const file = guessFile(part as ContentPart)
      if (file === null) continue
      input ??= {}
      input[file.medium] = (input[file.medium] ?? 0) + file.tokens
    }
  }
  const modalities = modelRequest.request?.modalities
  const output = Array.isArray(modalities)
    ? MEDIA.filter((medium) => modalities.includes(medium))
    : []
  return input === null && output.length === 0 ? NO_MEDIA : { input: input ?? {}, output }
}

/** Anthropic's requests contain no sound. */
function collectContents({ request, native }: MediaRequest): unknown[] {
  if (request !== undefined) return request.messages.map(({ content }) => content)
  const { input } = native.body
  if (native.api === 'messages' || !Array.isArray(input)) return []
  return input.flatMap((item) => [asObject(item)?.content, asObject(item)?.output])
}

/**
 * Requires prices for media; video includes sound. The sandbox needs no price, nor does a vendor that
 * reports the cost of its calls.
 * @throws VendorError for sound in the prompt, or media in the answer, without a known price
 */
export function requirePricedMedia(
  config: Pick<Catalogue, 'vendors'> & {
    vendors: Readonly<Record<string, { sandboxed?: boolean }>>
  },
  { vendor: name, model }: Route,
  { input, output }: MediaNeeds,
): void {
  const hasAudio = (input.audio ?? 0) + (input.video ?? 0) > 0
  if (!hasAudio && output.length === 0) return
  const vendor = getVendor(config.vendors, name)
  if (vendor.sandboxed === true || vendor.quirks.reportsCost === true) return
  const price = findKnownModel(config, name, model)?.price ?? null
  const isPriced = (medium: Medium, part: Part) =>
    price !== null && findMediaPrice(price, price, medium, part) !== null
  if (hasAudio && !isPriced('audio', 'input'))
    throw createUnpricedRefusal('audio in the prompt', 'messages')
  const unknown = output.find((medium) => !isPriced(medium, 'output'))
  if (unknown !== undefined)
    throw createUnpricedRefusal(`an answer with '${unknown}'`, 'modalities')
}

function createUnpricedRefusal(what: string, param: string) {
  return createRefusal(
    `${what} is billed separately by this model's vendor at an unknown price: use a model with a listed price, or have the operator configure one`,
    param,
  )
}

/** Estimates the media tokens of a request, for vendors that report no usage. */
export function guessMediaTokens({ input }: MediaNeeds): Pick<Usage, 'media'> {
  if (Object.keys(input).length === 0) return {}
  const media = Object.entries(input).map(([medium, tokens]) => [
    medium,
    { input: tokens, output: 0, cached: 0 },
  ])
  return { media: Object.fromEntries(media) as MediaTokens }
}
