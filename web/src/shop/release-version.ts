/** `kit-1.2.0.zip` has version `1.2.0`; other names suggest none. */
export function suggestVersion(fileName: string): string {
  const name = fileName.replace(/\.zip$/i, '')
  return /(?<![\d.])\d+\.\d+(\.\d+)*([-+][\w.+-]+)?/.exec(name)?.[0] ?? ''
}
