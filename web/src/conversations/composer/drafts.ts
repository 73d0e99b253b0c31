import { createBrowserList } from '../../components/browser-list.ts'

type Draft = { id: string; text: string }

/** Unsent texts by conversation; `new` is the next conversation’s. Deleted at sign-out. */
const drafts = createBrowserList<Draft>('drafts', 40)

export function readDraft(userId: string, id: string): string {
  return drafts.read(userId).find((draft) => draft.id === id)?.text ?? ''
}

export function saveDraft(userId: string, id: string, text: string): void {
  drafts.update(userId, (stored) => {
    const others = stored.filter((draft) => draft.id !== id)
    return text === '' ? others : [{ id, text }, ...others]
  })
}
