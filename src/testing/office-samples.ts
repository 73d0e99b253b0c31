/** Builds small files for tests: ZIP archives and Word documents. */
import { writeZip } from './zip.ts'

export function buildZip(files: Record<string, string | Uint8Array>): Uint8Array {
  const items = Object.entries(files).map(([name, content]) => ({
    name,
    content: Buffer.from(content as string),
  }))
  return new Uint8Array(writeZip(items))
}

/** `body` is the content of <w:body>. */
export function buildDocx(body: string, more: Record<string, string> = {}): Uint8Array {
  return buildZip({
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    ...more,
  })
}

export function paragraph(text: string, properties = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
}
