// Runs the document tools for one answer and numbers their passages over all rounds: `[n]` cites
// the n-th source. Quotations are fenced as in answer/prompt.ts.
import type { TObject } from 'typebox'
import { formatDetail } from '#platform/http/replies.ts'
import { Problem } from '#platform/problem.ts'
import { createCitationCheck } from '../answer/citation-check.ts'
import type { CitationCheck } from '../answer/citations.ts'
import { type Overview, readOverviewChunks } from '../answer/overview.ts'
import { buildPassages, type Passage } from '../answer/passages.ts'
import { encloseInFence, formatDate, quoteNames, quotePassage, readName } from '../answer/prompt.ts'
import type { RagDeps } from '../deps.ts'
import type { DocumentRow } from '../documents/document-store.ts'
import { readDocumentText } from '../documents/document-text.ts'
import { readDocumentId } from '../documents/ids.ts'
import type { RagCall } from '../metering.ts'
import { ragProblem } from '../problems.ts'
import type { Condition } from '../search/filter.ts'
import { findDocuments } from '../search/search.ts'
import { checkInput } from './checked-input.ts'
import { cutPassages } from './document-passages.ts'
import { FETCH_CHARACTERS_MAX, LIST_LIMIT, READING, searchPassages } from './reading.ts'

export type SessionDeps = Pick<
  RagDeps,
  'db' | 'indexes' | 'embedder' | 'vectors' | 'gateway' | 'rerankModel' | 'log' | 'secrets'
>

export type SessionTerms = {
  question: string
  /** Restricts the documents; empty: all of the user's. */
  scope: readonly Condition[]
  /** Chunks with a lower score are left out. */
  minScore: number
  /** The tokens that all results together may use. */
  roomTokens: number
}

/** `content`: for the model. `found`: the number of results. */
export type ToolResult = { input: Record<string, unknown>; content: string; found: number }

type ToolName = keyof typeof READING

/** The most tokens of one result. */
const SEARCH_TOKENS_MAX = 6_000
const LIST_TOKENS_MAX = 4_000
const FETCH_TOKENS_MAX = 16_000
const ROOM_TOKENS_MIN = 200
const NEIGHBOUR_TOKENS_MAX = 1_500
const CHARACTERS_PER_TOKEN = 3
/** Later rounds may add sources, so every short number in brackets inside a source loses them. */
const NUMBERS_MAX = 999

export class DocumentSession {
  readonly #deps: SessionDeps
  readonly #call: RagCall
  readonly #terms: SessionTerms
  readonly #sources: Passage[] = []
  #leftTokens: number

  constructor(deps: SessionDeps, call: RagCall, terms: SessionTerms) {
    this.#deps = deps
    this.#call = call
    this.#terms = terms
    this.#leftTokens = terms.roomTokens
  }

  /** `[n]` cites the n-th. */
  get sources(): readonly Passage[] {
    return this.#sources
  }

  /** Creates the check of an answer that cites the sources so far. */
  createCheck(): CitationCheck {
    return createCitationCheck(this.#terms.question, this.#sources)
  }

  /**
   * Runs a tool that a model calls; the model gets faults that it can correct. `json`: the
   * arguments.
   * @throws Problem 429 where a budget is used up; the signal's reason; errors of the database
   */
  async run(name: string, json: string): Promise<ToolResult> {
    if (!isToolName(name)) return createFault({}, `There is no tool '${name}'.`)
    const checked = checkInput(READING[name].input as TObject, parseArguments(json))
    if ('fault' in checked) return createFault({}, checked.fault)
    const input = checked.value as Record<string, unknown>
    if (this.#leftTokens < ROOM_TOKENS_MIN)
      return createFault(input, 'No more sources fit: answer with those that you have.')
    try {
      return { input, ...(await this.#read(name, input)) }
    } catch (error) {
      this.#call.signal.throwIfAborted()
      if (!(error instanceof Problem) || error.status === 429) throw error
      return createFault(input, formatDetail(error))
    }
  }

  #read(name: ToolName, input: Record<string, unknown>): Promise<Omit<ToolResult, 'input'>> {
    if (name === 'search') return this.#search(input as { query: string })
    if (name === 'fetch') return this.#fetch(input as { id: string })
    return this.#list((input.limit as number | undefined) ?? LIST_LIMIT)
  }

  async #search(input: { query: string; top_k?: number }): Promise<Omit<ToolResult, 'input'>> {
    const { scope, minScore } = this.#terms
    const { found: all } = await searchPassages(this.#deps, this.#call, input, scope)
    const found = all.filter(({ score }) => score >= minScore)
    if (found.length === 0) return { content: NOTHING_MATCHES, found: 0 }
    const known = new Set(found.flatMap(({ id }) => this.#findNumber(id) ?? []))
    const fresh = found.filter(({ id }) => this.#findNumber(id) === null)
    const tokens = Math.min(SEARCH_TOKENS_MAX, this.#leftTokens)
    const passages = await buildPassages(this.#deps, this.#call.caller.userId, fresh, {
      tokens,
      neighbourTokens: NEIGHBOUR_TOKENS_MAX,
    })
    const before =
      known.size === 0 ? [] : [`Found again: ${[...known].map((n) => `[${n}]`).join(' ')}.`]
    return {
      content: [...before, ...this.#quote(passages)].join('\n\n'),
      found: known.size + passages.length,
    }
  }

  /** Lists names, and the beginnings of the newest documents as sources. */
  async #list(limit: number): Promise<Omit<ToolResult, 'input'>> {
    const { userId } = this.#call.caller
    const documents = await this.#findDocuments()
    if (documents.length === 0) return { content: 'There are no documents.', found: 0 }
    const listed = documents.slice(0, limit)
    const overview: Overview = { kind: 'list', documents: listed }
    const tokens = Math.min(LIST_TOKENS_MAX, this.#leftTokens)
    const beginnings = await readOverviewChunks(this.#deps, userId, overview)
    const passages = await buildPassages(this.#deps, userId, beginnings, {
      tokens,
      neighbourTokens: 0,
    })
    const count = documents.length === 1 ? 'one document' : `${documents.length} documents`
    const left = documents.length - listed.length
    const lines = [
      `There ${documents.length === 1 ? 'is' : 'are'} ${count}, newest first.`,
      ...(left > 0 ? [`${left} older documents are left out.`] : []),
      'The sources are their beginnings.',
    ]
    return {
      content: [lines.join(' '), ...this.#quote(passages, listed.map(describeDocument))].join(
        '\n\n',
      ),
      found: documents.length,
    }
  }

  async #fetch({ id }: { id: string }): Promise<Omit<ToolResult, 'input'>> {
    const { scope } = this.#terms
    if (scope.length > 0) {
      const documents = await this.#findDocuments()
      if (!documents.some((document) => document.id === readDocumentId(id)))
        throw ragProblem('document_not_found')
    }
    const tokens = Math.min(FETCH_TOKENS_MAX, this.#leftTokens)
    const charactersMax = Math.min(FETCH_CHARACTERS_MAX, tokens * CHARACTERS_PER_TOKEN)
    const { document, chunks, next } = await readDocumentText(
      this.#deps,
      this.#call.caller.userId,
      id,
      charactersMax,
    )
    const passages = cutPassages(document, chunks)
    const after = next === null ? [] : [`The document continues: fetch '${next}'.`]
    return {
      content: [...this.#quote(passages), ...after].join('\n\n'),
      found: passages.length,
    }
  }

  async #findDocuments(): Promise<DocumentRow[]> {
    const documents = await findDocuments(this.#deps, this.#call.caller.userId, [
      ...this.#terms.scope,
    ])
    return documents.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }

  /** Adds passages to the sources and quotes them with their numbers. */
  #quote(passages: readonly Passage[], names: readonly string[] = []): string[] {
    const quoted = passages.map((passage) => {
      this.#sources.push(passage)
      return quotePassage(passage, this.#sources.length, NUMBERS_MAX, passage.id)
    })
    const parts = [...(names.length === 0 ? [] : [quoteNames(names)]), ...quoted]
    if (parts.length === 0) return []
    const fenced = encloseInFence(this.#deps.secrets, parts.join('\n\n'), this.#terms.question)
    this.#leftTokens -= Math.ceil(Buffer.byteLength(fenced) / CHARACTERS_PER_TOKEN)
    return [fenced]
  }

  /** Returns the number of the source that contains a chunk. */
  #findNumber(chunkId: string): number | null {
    const index = this.#sources.findIndex(({ chunk_ids }) => chunk_ids.includes(chunkId))
    return index === -1 ? null : index + 1
  }
}

export const NOTHING_MATCHES = 'No passage of the documents matches.'

function isToolName(name: string): name is ToolName {
  return Object.hasOwn(READING, name)
}

function parseArguments(json: string): unknown {
  try {
    return JSON.parse(json === '' ? '{}' : json)
  } catch {
    return null
  }
}

function createFault(input: Record<string, unknown>, text: string): ToolResult {
  return { input, content: `Error: ${text}`, found: 0 }
}

function describeDocument({ id, source, metadata_json, created_at }: DocumentRow): string {
  const name = readName({ ...metadata_json, ...(source !== null && { source }) })
  return `${name ?? 'a text without a name'}, added ${formatDate(created_at)}, id ${id}`
}
