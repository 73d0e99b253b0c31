/** A file that cannot be read, with the reason; a 422. Crosses from the worker by its name. */
export class Unreadable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options)
    this.name = 'Unreadable'
  }
}

/** Offsets are in the text, in UTF-16 units, and ascend. */
export type Outline = {
  /** The start of each page with text. */
  pages?: { at: number; page: number }[]
  /** Null: the lines that begin with # are the headings. */
  headings?: Heading[] | null
}

export type Heading = { at: number; level: number; title: string }

/** A file's text, and warnings about the parts that it lacks. */
export type Reading = {
  text: string
  /** Absent: the text is Markdown, or nearly. */
  outline?: Outline
  warnings: Warning[]
}

export type Warning = {
  /** From 1; null where the file has no pages, or for the whole file. */
  page: number | null
  reason: string
}

export const PICTURES: Warning = {
  page: null,
  reason: 'Pictures are left out: text in them is not read.',
}
