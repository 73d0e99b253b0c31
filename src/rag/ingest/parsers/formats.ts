/** The accepted formats, of which parser, API, errors and upload page follow. For browsers, too. */

/** `ole`: encrypted Office documents and all from before 2007. It is not read. */
export type Format = keyof typeof accepted | 'ole'

type Accepted = {
  /** The name in lists for users; formats with the same name are listed once. */
  name: string
  endings: string
  /** The kind of package in the ZIP. */
  package?: string
}

const accepted = {
  pdf: { name: 'PDF', endings: 'pdf' },
  docx: { name: 'Word', endings: 'docx docm', package: 'a Word document' },
  xlsx: { name: 'Excel', endings: 'xlsx xlsm', package: 'an Excel workbook' },
  pptx: { name: 'PowerPoint', endings: 'pptx pptm', package: 'a PowerPoint presentation' },
  epub: { name: 'EPUB', endings: 'epub', package: 'an EPUB' },
  opendocument: {
    name: 'OpenDocument',
    endings: 'odt ods odp odg ott ots otp',
    package: 'an OpenDocument file',
  },
  rtf: { name: 'RTF', endings: 'rtf' },
  html: { name: 'HTML', endings: 'html htm xhtml' },
  eml: { name: 'email', endings: 'eml' },
  csv: { name: 'CSV', endings: 'csv tsv tab' },
  ipynb: { name: 'Jupyter notebooks', endings: 'ipynb' },
  subtitles: { name: 'subtitles', endings: 'srt vtt' },
  text: { name: 'Markdown, text', endings: 'md txt text markdown mdx rst' },
  code: {
    name: 'source code',
    endings:
      'json jsonl ndjson xml yaml yml toml ini conf cfg properties log tex bib adoc org py pyi js mjs cjs jsx ts mts cts tsx vue svelte css scss less java kt kts scala groovy gradle c h cc cpp cxx hpp cs fs go rs swift m mm php rb pl pm lua r jl dart ex exs erl hs clj elm zig nim sql graphql proto sh bash zsh fish ps1 bat cmd mk cmake tf hcl diff patch',
  },
} satisfies Record<string, Accepted>

const lists: [Format, Accepted][] = Object.entries(accepted) as never
const byEnding = new Map(
  lists.flatMap(([format, { endings }]) => endings.split(' ').map((ending) => [ending, format])),
)

export function findFormat(ending: string): Format | undefined {
  return byEnding.get(ending)
}

/** Returns the kind of package that a ZIP of this format is; undefined for other formats. */
export function findPackage(format: Format): string | undefined {
  return lists.find(([name]) => name === format)?.[1].package
}

const names = [...new Set(lists.map(([, { name }]) => name))]

/** For users: "PDF, Word, … or source code". */
export const FORMAT_NAMES = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

/** The usual ending of each format except code: ".pdf, .docx, …". */
export const FORMAT_ENDINGS = lists
  .filter(([format]) => format !== 'code')
  .flatMap(([, { endings }]) => `.${endings.split(' ')[0]}`)
  .join(', ')

const savedAs: Record<string, string> = {
  'doc dot wps wpd fodt pages hwp': 'docx',
  'xls xlt xlsb fods numbers': 'xlsx',
  'ppt pot pps fodp key': 'pptx',
  'msg emlx mbox pst': 'eml',
  'mobi azw azw3 fb2 djvu xps ps eps tif tiff': 'pdf',
  'mht mhtml': 'html',
  ass: 'srt',
}
const savedAsByEnding = new Map(
  Object.entries(savedAs).flatMap(([endings, better]) =>
    endings.split(' ').map((ending) => [ending, better]),
  ),
)
const pictures = new Set('png jpg jpeg gif webp bmp heic svg avif'.split(' '))
const archives = new Set('zip rar 7z tar gz tgz bz2 xz zst'.split(' '))
const recordings = new Set('mp3 m4a wav ogg flac mp4 mov avi mkv webm'.split(' '))

/** Returns the advice for a file whose ending is not accepted. */
export function adviseUpload(ending: string): string {
  const better = savedAsByEnding.get(ending)
  if (better !== undefined) return `Save it as .${better} and upload it again.`
  if (pictures.has(ending))
    return 'Text in pictures is not read: make a PDF with recognised text (OCR) of it and upload that.'
  if (archives.has(ending)) return 'Unpack it and upload the files in it.'
  if (recordings.has(ending))
    return 'Recordings are not heard: upload a transcript or subtitles (.srt, .vtt).'
  return `Upload a ${FORMAT_ENDINGS} file, or source code.`
}
