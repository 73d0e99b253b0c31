// Writes one answer into its log. The model reads documents with tools, in up to six calls; a model
// without tools gets the passages of one search. Every call is an ordinary call of the user.
import type { CallOrigin } from '#ai/call-origin.ts'
import type { GatewayCall } from '#ai/chat-call.ts'
import { withinMs } from '#ai/stream-encoder.ts'
import type { ChatMessage, ToolCall } from '#ai/vendors/chat-request.ts'
import type { Route } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { asObject } from '#platform/json.ts'
import { type AnswerDeps, findMinScore, prepareAnswer, readContext } from '#rag/answer/answer.ts'
import { createCitationCheck } from '#rag/answer/citation-check.ts'
import type { Citation, CitationCheck } from '#rag/answer/citations.ts'
import { formatDate, NOTHING_FOUND } from '#rag/answer/prompt.ts'
import type { RagCall } from '#rag/metering.ts'
import type { Condition } from '#rag/search/filter.ts'
import { DocumentSession } from '#rag/tools/document-session.ts'
import { buildToolInstruction, listToolDefinitions } from '#rag/tools/instruction.ts'
import { joinText } from '../content.ts'
import type { MessageUsage } from '../tables.ts'
import { hasAbility } from './abilities.ts'
import type { AnswerLog } from './answer-log.ts'
import { isIncomplete, type RoundOutput, runRound, type Spending } from './model-round.ts'
import type { ModelSpeeds } from './model-speeds.ts'
import { type BranchTurn, buildMessages } from './prompt.ts'
import { toSource } from './sources.ts'

export type WriterDeps = AnswerDeps & { speeds: ModelSpeeds }

/** `isChosen`: the user chose the documents; otherwise the model decides whether to search. */
export type DocumentScope = { conditions: Condition[]; isChosen: boolean }

export type AnswerTerms = {
  caller: Caller
  origin: CallOrigin
  signal: AbortSignal
  first: Route
  /** The name in the question; null: the default model. */
  modelName: string | null
  /** Oldest first; the last one is the question. */
  turns: readonly BranchTurn[]
  instructions: string
  temperature: number | null
  maxTokens: number | null
  /** Null: documents are off. */
  documents: DocumentScope | null
  /** Names the conversation and returns its title; null: it has a name. Called once it is answered. */
  nameConversation: (() => Promise<string>) | null
}

/** The route of the calls in the ledger. */
const ROUTE = '/api/conversations'
const CALLS_MAX = 6
/** Further calls of tools in one round are rejected. */
const TOOLS_PER_ROUND_MAX = 8
const ANSWER_TOKENS = 8_192
/** The share of a small model's context that the answer may use. */
const ANSWER_SHARE = 0.25
/** Tokens for the tools' definitions and the frames of their results. */
const FRAME_TOKENS = 1_500
const SOURCES_TOKENS_MAX = 60_000
const TOP_K = 8
/** How long a complete answer waits for its title. */
const TITLE_MS = 2_000
/** Low with documents, because answers from them need facts, not variety. */
const TEMPERATURE = { documents: 0.2, other: 0.7 }

export class AnswerWriter {
  readonly #deps: WriterDeps
  readonly #terms: AnswerTerms
  readonly #log: AnswerLog
  readonly #citations: Citation[] = []
  readonly #spending: Spending = {
    promptTokens: 0,
    completionTokens: 0,
    costUsd: 0,
    model: null,
    finish: null,
  }
  #check: CitationCheck | null = null
  /** The place of the checked text in the answer. */
  #checkedFrom = 0
  #naming: Promise<string> | null = null

  constructor(deps: WriterDeps, terms: AnswerTerms, log: AnswerLog) {
    this.#deps = deps
    this.#terms = terms
    this.#log = log
  }

  /**
   * Resolves when the answer is complete. A failed answer keeps what was written; the log has the
   * citations and the usage of both.
   * @throws Problem of the gateway, or of a search; the signal's reason
   */
  async write(): Promise<void> {
    const { documents, first } = this.#terms
    try {
      if (documents === null) await this.#writeAlone()
      else if (hasAbility(this.#deps.gateway, first, 'tools')) await this.#writeWithTools(documents)
      else await this.#writeAfterSearch(documents)
    } finally {
      this.#log.endTool()
      if (this.#citations.length > 0) this.#log.setCitations(this.#citations)
      const title = this.#naming && (await withinMs(TITLE_MS, this.#naming))
      if (title !== null) this.#log.addEvent('title', { title })
      this.#logUsage()
    }
  }

  /** Returns what the answer used; null before a model has answered. */
  summarize(): { model: string | null; usage: MessageUsage | null } {
    const { promptTokens, completionTokens, costUsd, model, finish } = this.#spending
    if (model === null) return { model, usage: null }
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      cost_usd: costUsd,
      ...(isIncomplete(finish) && { finish_reason: finish }),
    }
    return { model, usage }
  }

  #logUsage(): void {
    const { model, usage } = this.summarize()
    if (usage === null) return
    const { cost_usd, finish_reason: _, ...tokens } = usage
    const { finish } = this.#spending
    const finish_reason = this.#terms.signal.aborted ? 'stopped' : finish
    this.#log.addEvent('usage', { usage: tokens, model, finish_reason, cost_usd })
  }

  async #writeAlone(): Promise<void> {
    const { messages } = this.#buildMessages(this.#terms.instructions)
    await this.#callModel({ messages }, null)
  }

  async #writeWithTools({ conditions, isChosen }: DocumentScope): Promise<void> {
    const today = `Today is ${formatDate(this.#deps.clock.now())}.`
    const { messages, usedTokens } = this.#buildMessages(
      [buildToolInstruction(isChosen), this.#terms.instructions, today]
        .filter((text) => text !== '')
        .join('\n\n'),
    )
    const session = this.#openSession(conditions, usedTokens)
    const tools = listToolDefinitions()
    for (let round = 1; round <= CALLS_MAX; round++) {
      const tool_choice = round === CALLS_MAX ? 'none' : 'auto'
      const { message, calls } = await this.#callModel({ messages, tools, tool_choice }, session)
      if (calls.length === 0 || round === CALLS_MAX) return
      messages.push(message)
      for (const [index, call] of calls.entries())
        messages.push(await this.#runTool(session, call, index))
    }
  }

  #openSession(conditions: Condition[], usedTokens: number): DocumentSession {
    const { first, turns } = this.#terms
    const free = this.#contextTokens - usedTokens - this.#answerTokens - FRAME_TOKENS
    return new DocumentSession(this.#deps, this.#ragCall, {
      question: joinText(turns.at(-1) ?? { parts: [] }),
      scope: conditions,
      minScore: findMinScore(this.#deps, first),
      roomTokens: Math.min(SOURCES_TOKENS_MAX, Math.max(0, free)),
    })
  }

  async #runTool(session: DocumentSession, call: ToolCall, index: number): Promise<ChatMessage> {
    const { name, arguments: json } = call.function
    const answer = { role: 'tool' as const, tool_call_id: call.id, name }
    if (index >= TOOLS_PER_ROUND_MAX)
      return { ...answer, content: 'Error: too many calls at once.' }
    this.#log.addTool({ name, input: parseInput(json), state: 'running' })
    const before = session.sources.length
    const { input, content, found } = await session.run(name, json)
    this.#log.addTool({ name, input, state: 'done', found })
    if (session.sources.length > before) this.#log.setSources(session.sources.map(toSource))
    return { ...answer, content }
  }

  /** For models without tools: searches for the question first, as `/api/rag/query` does. */
  async #writeAfterSearch({ conditions, isChosen }: DocumentScope): Promise<void> {
    const { turns, modelName, instructions } = this.#terms
    const history = turns.slice(0, -1).map((turn) => ({ role: turn.role, content: joinText(turn) }))
    const question = joinText(turns.at(-1) ?? { parts: [] })
    const input = { query: question }
    this.#log.addTool({ name: 'search', input, state: 'running' })
    const { evidence, gatewayCall } = await prepareAnswer(this.#deps, this.#ragCall, {
      question,
      topK: TOP_K,
      minScore: null,
      history,
      conditions,
      instructions,
      model: modelName,
    })
    const { sources } = evidence
    this.#log.addTool({ name: 'search', input, state: 'done', found: sources.length })
    if (gatewayCall === null && isChosen) return this.#log.addText(NOTHING_FOUND)
    if (gatewayCall === null) return this.#writeAlone()
    this.#log.setSources(sources.map(toSource))
    const messages = [...(gatewayCall.request?.messages ?? [])]
    // The same question, with its images.
    messages.splice(-1, 1, ...this.#buildMessages('').messages.slice(-1))
    await this.#callModel(
      { messages },
      { createCheck: () => createCitationCheck(question, sources) },
    )
  }

  #buildMessages(instructions: string) {
    const { turns, first } = this.#terms
    const seesImages = hasAbility(this.#deps.gateway, first, 'vision', true)
    const contextTokens = this.#contextTokens
    return buildMessages({ turns, instructions, contextTokens, seesImages })
  }

  async #callModel(
    request: NonNullable<GatewayCall['request']>,
    checks: { createCheck(): CitationCheck } | null,
  ) {
    const { caller, origin, signal, first, temperature, documents } = this.#terms
    const usual = documents === null ? TEMPERATURE.other : TEMPERATURE.documents
    const call: GatewayCall = {
      caller,
      route: ROUTE,
      first,
      request: {
        ...request,
        messages: [...request.messages],
        max_tokens: this.#answerTokens,
        temperature: temperature ?? usual,
        wishes: { reasoning: true },
      },
      signal,
      origin,
    }
    this.#check = checks?.createCheck() ?? null
    let isFirst = true
    const output: RoundOutput = {
      addText: (text) => {
        if (isFirst) this.#startParagraph()
        isFirst = false
        this.#naming ??= this.#terms.nameConversation?.() ?? null
        this.#log.addText(this.#check?.push(text) ?? text)
      },
      addReasoning: (text) => this.#log.addReasoning(text),
      endReasoning: () => this.#log.endReasoning(),
    }
    try {
      return await runRound(this.#deps, call, this.#spending, output)
    } finally {
      this.#log.endReasoning()
      this.#endCheck()
    }
  }

  /** Separates the text of a round from the text before a tool. */
  #startParagraph(): void {
    if (this.#log.text !== '') this.#log.addText('\n\n')
    this.#checkedFrom = this.#log.text.length
  }

  /** Shows the held-back text of the round, and moves its citations to their places. */
  #endCheck(): void {
    if (this.#check === null) return
    const from = this.#checkedFrom
    this.#log.addText(this.#check.end())
    for (const citation of this.#check.citations())
      this.#citations.push({
        ...citation,
        start: citation.start + from,
        end: citation.end + from,
      })
    this.#check = null
  }

  get #ragCall(): RagCall {
    const { caller, origin, signal } = this.#terms
    return { caller, route: ROUTE, signal, origin }
  }

  get #contextTokens(): number {
    return readContext(this.#deps, this.#terms.first)
  }

  get #answerTokens(): number {
    const { maxTokens } = this.#terms
    return Math.min(maxTokens ?? ANSWER_TOKENS, Math.floor(this.#contextTokens * ANSWER_SHARE))
  }
}

/** Returns arguments that are not checked yet, for display. */
function parseInput(json: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(json)) ?? {}
  } catch {
    return {}
  }
}
