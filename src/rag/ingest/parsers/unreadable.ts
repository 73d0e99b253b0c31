/** A file that cannot be read, with a reason that a person understands; becomes a 422. Crosses from the worker as its name and message. */
export class Unreadable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options)
    this.name = 'Unreadable'
  }
}

/** Offsets are in the text, in UTF-16 units, and ascend. */
export type Outline = {
  /** Where each page starts that has text. */
  pages?: { at: number; page: number }[]
  /** Null: the lines that begin with # are the headings. */
  headings?: Heading[] | null
}

export type Heading = { at: number; level: number; title: string }

/** A file's text, and what of the file is not in it. */
export type Reading = {
  text: string
  /** Left out: the text is Markdown, or nearly. */
  outline?: Outline
  warnings: Warning[]
}

export type Warning = {
  /** From 1; null where the file has no pages, or the whole of it is meant. */
  page: number | null
  reason: string
}

export const PICTURES: Warning = {
  page: null,
  reason: 'Pictures are left out: text in them is not read.',
}
