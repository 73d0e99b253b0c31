// The request of a chat call, in the gateway's or a vendor's format, with its measures and limits.
import { hash } from 'node:crypto'
import type { Reservation } from '#usage/ledger.ts'
import { estimateJsonTokens, estimatePromptTokens } from './estimate.ts'
import { type ChatRequest, SHORT_ANSWER_TOKENS } from './vendors/chat-request.ts'
import type { NativeRequest } from './vendors/vendor.ts'

export type ModelRequest =
  | { request: ChatRequest; native?: undefined }
  | { request?: undefined; native: NativeRequest }

/** `limit`: the caller's limit for one answer, or null; `choices`: the number of answers. */
export type RequestSize = { promptTokens: number; limit: number | null; choices: number }

export function measureRequest({ request, native }: ModelRequest): RequestSize {
  if (native !== undefined)
    return { promptTokens: estimateJsonTokens(native.body), limit: native.limit, choices: 1 }
  const limit = request.max_completion_tokens ?? request.max_tokens ?? null
  return {
    promptTokens: estimatePromptTokens(request),
    limit,
    choices: Math.max(1, request.n ?? 1),
  }
}

/** Returns the conversation, oldest turn first, in the format of the request's API. */
export function readTurns({ request, native }: ModelRequest): unknown {
  return request?.messages ?? native?.body.messages ?? native?.body.input
}

export function setOutputLimit({ request, native }: ModelRequest, tokens: number): ModelRequest {
  if (native !== undefined) return { native: { ...native, limit: tokens } }
  // A limit that leaves no room for long reasoning is the service's choice, not the caller's.
  const wishes =
    tokens > SHORT_ANSWER_TOKENS ? request.wishes : { ...request.wishes, keepsEffort: false }
  return {
    request: {
      ...request,
      max_tokens: null,
      max_completion_tokens: tokens,
      ...(wishes && { wishes }),
    },
  }
}

/** Shortens one answer (`answerTokens`) and limits searches to what the budget reserved. */
export function fitToReservation(
  modelRequest: ModelRequest,
  { completionTokens, held }: Reservation,
  {
    answerTokens,
    choices,
    searchesMax,
  }: { answerTokens: number; choices: number; searchesMax: number },
): ModelRequest {
  const fit = Math.max(1, Math.floor(completionTokens / choices))
  const fitted = answerTokens <= fit ? modelRequest : setOutputLimit(modelRequest, fit)
  if (fitted.native === undefined || held === null) return fitted
  return { native: { ...fitted.native, searchesMax } }
}

/** Names the account and the end user, for the vendor's abuse reports: at most 64 characters. */
export function addSafetyIdentifier(
  { request, native }: ModelRequest,
  userId: string,
  endUser: string,
): ModelRequest {
  const safetyIdentifier =
    endUser === '' ? userId : `${userId}.${hash('sha256', endUser).slice(0, 24)}`
  if (native !== undefined) return { native: { ...native, safetyIdentifier } }
  return { request: { ...request, wishes: { ...request.wishes, safetyIdentifier } } }
}
