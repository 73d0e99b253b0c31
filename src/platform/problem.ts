/**
 * A failure that is expected: what its caller reads (`code`, `status`, `detail`), and for the
 * operator its `cause`. Anything else that is thrown is a bug and becomes a 500 with an id. Each
 * room lists its problems once, in its problems.ts. Nothing else can make one, so that a code which
 * no list has does not compile.
 */

/** One entry of a 422's `detail`; `loc` starts with body, query, path or header. */
export type Issue = { loc: (string | number)[]; msg: string; type: string }

/**
 * The status, or those that the throwing code chooses from, the usual one first. The sentence,
 * whose `{names}` are filled where it is thrown. Advice for the caller, if the sentence has none;
 * and the code in another API's dialect.
 */
export type Entry = readonly [
  status: number | readonly number[],
  sentence: string,
  more?: { advice?: string; alias?: string },
]
export type Catalogue = Readonly<Record<string, Entry>>

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
  /** An alias that is known only now. */
  alias?: string | undefined
  /** For the log alone. */
  cause?: unknown
}

type Rest<E extends Entry> = [Names<E[1]>] extends [never]
  ? [options?: ProblemOptions<E>]
  : [values: Record<Names<E[1]>, string | number>, options?: ProblemOptions<E>]

export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly detail: string | Issue[]
  readonly headers: Record<string, string>
  readonly extra: Record<string, unknown>
  /** The code in another API's dialect; mostly the same. */
  readonly alias: string

  private constructor(
    code: string,
    [status, , more]: Entry,
    sentence: string,
    options: ProblemOptions,
  ) {
    const { headers = {}, issues, extra = {}, cause } = options
    super(issues ? issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ') : sentence, {
      cause,
    })
    this.name = 'Problem'
    this.code = code
    this.status = options.status ?? [status].flat()[0] ?? 500
    this.detail = issues ?? sentence
    this.headers = headers
    this.extra = extra
    this.alias = options.alias ?? more?.alias ?? code
  }

  /**
   * Creates a room's problems: `keyProblem('key_limit_reached', { max: 50 })`. The values are left
   * out where the sentence has none.
   */
  static define<const C extends Catalogue>(catalogue: C) {
    const make = <Code extends keyof C & string>(code: Code, ...rest: Rest<C[Code]>): Problem => {
      const entry = catalogue[code] as Entry
      const [values, options] = (entry[1].includes('{') ? rest : [{}, ...rest]) as [
        Record<string, string | number>,
        ProblemOptions?,
      ]
      return new Problem(code, entry, filled(entry[1], values), options ?? {})
    }
    /** Whether it is one of this room's. */
    const is = (error: unknown, ...codes: (keyof C & string)[]): error is Problem =>
      error instanceof Problem && codes.includes(error.code)
    return Object.assign(make, { catalogue, is })
  }
}

function filled(sentence: string, values: Record<string, string | number>): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
