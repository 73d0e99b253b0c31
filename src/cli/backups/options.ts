/** @returns the one place named, and which of the flags were given. @throws Error with the usage otherwise. */
export function placeAndFlags(args: readonly string[], usage: string, flags: readonly string[]) {
  const given = args.filter((arg) => arg.startsWith('--'))
  const [address, ...more] = args.filter((arg) => !arg.startsWith('--'))
  const stray = given.find((flag) => !flags.includes(flag))
  if (!address || more.length > 0 || stray !== undefined) {
    throw new Error(
      `${stray === undefined ? '' : `${stray} is not known; `}usage: npm run cli -- ${usage}`,
    )
  }
  return { address, has: (flag: string) => given.includes(flag) }
}

/** For people. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1_000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`
}
