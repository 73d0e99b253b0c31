/** A paragraph, list item or table of a text in Markdown. */
export type Block = { text: string; isItem: boolean }

/** Joins blocks by blank lines, and adjacent list items by one line end. */
export function joinBlocks(blocks: readonly Block[]): string {
  let text = ''
  for (const [i, block] of blocks.entries()) {
    const before = blocks[i - 1]
    if (before) text += before.isItem && block.isItem ? '\n' : '\n\n'
    text += block.text
  }
  return text
}
