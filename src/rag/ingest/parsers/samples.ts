// Builds small PDFs for tests and for `cli seed`.

/**
 * One page per content stream, with the fonts F, B (bold) and M (monospaced). `extra` is added to
 * the trailer, the rest to the catalogue and to each page; `objects` are numbered from
 * `freeNumber(streams.length)` on.
 */
export function buildPdf(
  streams: (string | { raw: Uint8Array; filter: string })[],
  extra = '',
  { catalogue = '', page = '', objects = [] as string[] } = {},
): Uint8Array {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  const add = (body: Buffer) => {
    offsets.push(parts.reduce((sum, part) => sum + part.length, 0))
    parts.push(
      Buffer.concat([Buffer.from(`${offsets.length} 0 obj\n`), body, Buffer.from('\nendobj\n')]),
    )
  }
  const kids = streams.map((_, i) => `${4 + i * 2} 0 R`).join(' ')
  add(Buffer.from(`<</Type/Catalog/Pages 2 0 R${catalogue}>>`))
  add(Buffer.from(`<</Type/Pages/Kids[${kids}]/Count ${streams.length}>>`))
  add(Buffer.from('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'))
  const fonts = `/F 3 0 R/B ${4 + streams.length * 2} 0 R/M ${5 + streams.length * 2} 0 R`
  for (const [i, stream] of streams.entries()) {
    add(
      Buffer.from(
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<<${fonts}>>>>/Contents ${5 + i * 2} 0 R${page}>>`,
      ),
    )
    const raw = typeof stream === 'string' ? Buffer.from(stream, 'latin1') : Buffer.from(stream.raw)
    const filter = typeof stream === 'string' ? '' : `/Filter/${stream.filter}`
    add(
      Buffer.concat([
        Buffer.from(`<</Length ${raw.length}${filter}>>\nstream\n`),
        raw,
        Buffer.from('\nendstream'),
      ]),
    )
  }
  for (const name of ['Helvetica-Bold', 'Courier'])
    add(Buffer.from(`<</Type/Font/Subtype/Type1/BaseFont/${name}>>`))
  for (const object of objects) add(Buffer.from(object, 'latin1'))
  const body = Buffer.concat(parts)
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${table}trailer\n<</Size ${offsets.length + 1}/Root 1 0 R${extra}>>\nstartxref\n${body.length}\n%%EOF\n`
  return new Uint8Array(Buffer.concat([body, Buffer.from(trailer)]))
}

/** Returns the number of the first object after those that every PDF with this number of pages has. */
export function freeNumber(pages: number): number {
  return 6 + pages * 2
}

/** Returns the content stream that draws these lines from the top down. */
export function drawLines(lines: string[], { x = 72, y = 720, step = 14 } = {}): string {
  return lines
    .map(
      (line, i) => `BT /F 12 Tf ${x} ${y - i * step} Td (${line.replace(/[()\\]/g, '\\$&')}) Tj ET`,
    )
    .join('\n')
}
