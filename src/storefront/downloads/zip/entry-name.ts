/**
 * Returns true for a path that unpacks below its target folder on every system: relative, `/`
 * between names, no `.` or `..`, no drive. It has no control or byte-order characters and fits the
 * ZIP's 16-bit length.
 */
export function isSafePath(path: string): boolean {
  if (path === '' || path.length > 1024 || !path.isWellFormed()) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f\\\u202a-\u202e\u2066-\u2069]/.test(path) || /^[a-zA-Z]:/.test(path))
    return false
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
}
