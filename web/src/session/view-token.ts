const KEY = 'latchkey.view'

/** The token of the view that this tab shows; null: none. */
export const viewToken = {
  read(): string | null {
    try {
      return sessionStorage.getItem(KEY)
    } catch {
      return null
    }
  },
  write: (token: string) => sessionStorage.setItem(KEY, token),
  clear: () => sessionStorage.removeItem(KEY),
}
