/** Each step colours an eighth more. */
const GROWTH = 1.125
const FIRST = 64

/**
 * Returns how much of a growing block of code to color. Its end stays plain for a while: coloring
 * everything at each token would take time that grows with the square of the length.
 */
export function readColouredLength(code: string): number {
  if (code.length < FIRST) return 0
  const steps = Math.floor(Math.log(code.length / FIRST) / Math.log(GROWTH))
  // Half a line would change its colors.
  return code.lastIndexOf('\n', Math.floor(FIRST * GROWTH ** steps)) + 1
}
