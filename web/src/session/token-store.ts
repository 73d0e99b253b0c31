/** The place of one token. Without the browser's storage, it lasts as long as the page. */
export function openTokenStore(key: string, open: () => Storage) {
  let storage: Storage | undefined
  let kept: string | null = null
  try {
    storage = open()
    storage.setItem(`${key}.probe`, '1')
    storage.removeItem(`${key}.probe`)
  } catch {
    storage = undefined
  }
  return {
    read: () => (storage ? storage.getItem(key) : kept),
    write(token: string) {
      kept = token
      storage?.setItem(key, token)
    },
    clear() {
      kept = null
      storage?.removeItem(key)
    },
  }
}

/** The token of the view that this tab shows. */
export const viewToken = openTokenStore('latchkey.view', () => sessionStorage)
