/** Formats numbers as Office shows them: percentages, and dates in days since the end of 1899. */

export type Shown = 'date' | 'time' | 'moment' | 'percent' | 'number'

/** Returns the kind of a number format: `0.0%`, `dd/mm/yyyy`. */
export function formatNumber(format: string): Shown {
  // Without quoted text, colours and conditions.
  const code = format.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, '')
  const hasDate = /[yd]/i.test(code)
  const hasTime = /[hs]/i.test(code)
  if (hasDate) return hasTime ? 'moment' : 'date'
  if (hasTime) return 'time'
  return code.includes('%') ? 'percent' : 'number'
}

/** Values that are no numbers stay unchanged. */
export function shownNumber(value: string, shown: Shown, is1904: boolean): string {
  const number = Number(value)
  if (value === '' || !Number.isFinite(number)) return value
  if (shown === 'percent') return `${Number((number * 100).toPrecision(12))}%`
  if (shown === 'number') return value.length > 15 ? String(Number(number.toPrecision(15))) : value
  return formatMoment(number, shown, is1904)
}

/** Excel counts a 29 February 1900, which did not exist. */
function formatMoment(days: number, shown: 'date' | 'time' | 'moment', is1904: boolean): string {
  const since = is1904 ? days + 1_462 : days < 60 ? days + 1 : days
  const at = new Date(Math.round((since - 25_569) * 86_400) * 1_000)
  if (Number.isNaN(at.getTime())) return String(days)
  const [date = '', time = ''] = at.toISOString().replace('.000Z', '').split('T')
  const clock = time.endsWith(':00') ? time.slice(0, 5) : time
  if (shown === 'time') return clock
  return shown === 'date' ? date : `${date} ${clock}`
}
