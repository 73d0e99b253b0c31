/**
 * An expected failure. The caller reads `code`, `status` and `detail`; the operator reads the
 * `cause` in the log. Any other error is a bug and becomes a 500 with an id. Each room lists its
 * problems in its problems.ts. Problems can only be created from these lists, so an unknown code
 * does not compile.
 */

/** One entry of a 422's `detail`; `loc` starts with body, query, path or header. */
export type Issue = { loc: (string | number)[]; msg: string; type: string }

/**
 * An entry of a room's list. `status`: one status, or several to choose from, with the default
 * first. `sentence`: the text, with `{names}` for values. `advice`: advice for the caller, if the
 * sentence has none. `alias`: the code in another API's dialect.
 */
export type Entry = readonly [
  status: number | readonly number[],
  sentence: string,
  advice?: string | null,
  alias?: string,
]
export type Catalogue = Readonly<Record<string, Entry>>
/** By the names in the braces of a sentence. */
type Values = Readonly<Record<string, string | number>>

type Names<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

export type ProblemOptions<E extends Entry = Entry> = {
  /** For an entry with several statuses. */
  status?: E[0] extends readonly number[] ? E[0][number] : never
  headers?: Record<string, string>
  /** The errors by field; they replace the sentence as `detail`. */
  issues?: Issue[]
  /** Further members of the reply's body. */
  extra?: Record<string, unknown>
  /** An alias that depends on the request. */
  alias?: string | undefined
  /** Only for the log. */
  cause?: unknown
}

type Rest<E extends Entry> = [Names<E[1]>] extends [never]
  ? [options?: ProblemOptions<E>]
  : [values: Record<Names<E[1]>, string | number>, options?: ProblemOptions<E>]

export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly detail: string | Issue[]
  /** Values for the placeholders of the sentence. */
  readonly values: Values
  readonly headers: Record<string, string>
  readonly extra: Record<string, unknown>
  /** The code in another API's dialect; usually the same as `code`. */
  readonly alias: string

  private constructor(
    code: string,
    [status, template, , alias]: Entry,
    values: Values,
    options: ProblemOptions,
  ) {
    const sentence = fillSentence(template, values)
    const { headers = {}, issues, extra = {}, cause } = options
    super(issues ? issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ') : sentence, {
      cause,
    })
    this.name = 'Problem'
    this.code = code
    this.status = options.status ?? [status].flat()[0] ?? 500
    this.detail = issues ?? sentence
    this.values = values
    this.headers = headers
    this.extra = extra
    this.alias = options.alias ?? alias ?? code
  }

  /**
   * Creates a room's problems: `keyProblem('key_limit_reached', { max: 50 })`. Omit the values when
   * the sentence has none.
   */
  static define<const C extends Catalogue>(catalogue: C) {
    const make = <Code extends keyof C & string>(code: Code, ...rest: Rest<C[Code]>): Problem => {
      const entry = catalogue[code] as Entry
      const [values, options] = (entry[1].includes('{') ? rest : [{}, ...rest]) as [
        Values,
        ProblemOptions?,
      ]
      return new Problem(code, entry, values, options ?? {})
    }
    /** Returns true for a problem with one of these codes. */
    const is = (error: unknown, ...codes: (keyof C & string)[]): error is Problem =>
      error instanceof Problem && codes.includes(error.code)
    return Object.assign(make, { catalogue, is })
  }
}

/** Returns `Wait 5 seconds` for `Wait {seconds} seconds`. */
export function fillSentence(sentence: string, values: Values): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
