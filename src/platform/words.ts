/** Returns the words of lists such as 'stop seed tools', in order. */
export function listWords(...lists: string[]): string[] {
  return lists.flatMap((list) => list.trim().split(/\s+/))
}

export function wordSet(...lists: string[]): ReadonlySet<string> {
  return new Set(listWords(...lists))
}
