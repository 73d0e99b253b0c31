/** Parses the search box: a request ID, a label as `name:value`, or an end user. */
export function parseSearch(text: string): {
  request_id?: string
  label?: string
  end_user?: string
} {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    return { request_id: text.toLowerCase() }
  return /^[^\s:]+:/.test(text) ? { label: text } : { end_user: text }
}
