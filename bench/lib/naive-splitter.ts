// The baseline of most products: a recursive splitter on empty lines, lines, spaces and characters
// that merges parts up to the size.
const SEPARATORS = ['\n\n', '\n', ' ', '']

export function splitNaively(
  text: string,
  size: number,
  overlap: number,
  separators = SEPARATORS,
): string[] {
  const at = separators.findIndex((separator) => separator === '' || text.includes(separator))
  const separator = separators[at] ?? ''
  const finer = separators.slice(at + 1)
  const parts = separator === '' ? [...text] : text.split(separator)

  const pieces: string[] = []
  let fitting: string[] = []
  for (const part of parts) {
    if (part.length <= size) fitting.push(part)
    else {
      pieces.push(
        ...merged(fitting, separator, size, overlap),
        ...splitNaively(part, size, overlap, finer),
      )
      fitting = []
    }
  }
  return [...pieces, ...merged(fitting, separator, size, overlap)]
}

function merged(parts: string[], separator: string, size: number, overlap: number): string[] {
  const pieces: string[] = []
  const current: string[] = []
  let length = 0
  for (const part of parts) {
    const added = part.length + (current.length > 0 ? separator.length : 0)
    if (length + added > size && current.length > 0) {
      pieces.push(current.join(separator).trim())
      while (length > overlap || (length > 0 && length + added > size)) {
        length -= (current[0]?.length ?? 0) + (current.length > 1 ? separator.length : 0)
        current.shift()
      }
    }
    current.push(part)
    length += part.length + (current.length > 1 ? separator.length : 0)
  }
  if (current.length > 0) pieces.push(current.join(separator).trim())
  return pieces.filter((piece) => piece !== '')
}
