import type { ReferenceOperation } from '#app/api-reference.ts'

type Called = Pick<ReferenceOperation, 'method' | 'path' | 'parameters' | 'bodyType' | 'request'>

/** Writes the call of an operation, with the example of its body. */
export function writeCurl(operation: Called, origin: string): string {
  const { method, path, parameters, bodyType, request } = operation
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=${name.toUpperCase()}`)
    .join('&')
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${origin}${filled}${query && `?${query}`}"`,
    '-H "Authorization: Bearer YOUR_API_KEY"',
  ]
  if (bodyType === 'multipart/form-data') {
    for (const [name, value] of Object.entries(request as Record<string, unknown>))
      lines.push(`-F "${name}=${name === 'file' ? '@' : ''}${value}"`)
  } else if (bodyType !== null) {
    const json = JSON.stringify(request, null, 2).replaceAll("'", `'\\''`)
    lines.push(`-H "Content-Type: ${bodyType}"`, `-d '${json}'`)
  }
  return lines.join(' \\\n  ')
}
