import { useState } from 'react'
import type { Documents } from './api.ts'
import type { ComposerOptions } from './composer/composer.tsx'
import { AUTO, type Scope } from './composer/scope.ts'

const MODEL_KEY = 'latchkey.model'

type Saved = { model: string | null; documents?: Documents | undefined; collections: string[] }

/** The model and documents of a conversation. A new one begins with the last chosen model. */
export function useComposerOptions(
  saved: Saved | undefined,
  onChange?: (change: Partial<ComposerOptions>) => void,
  /** Chosen before the first question, for example a document in the library. */
  scope?: Scope,
) {
  const [chosen, setChosen] = useState<Partial<ComposerOptions>>(scope ? { scope } : {})
  const options: ComposerOptions = {
    model: chosen.model ?? saved?.model ?? readModel(),
    scope:
      chosen.scope ??
      (saved ? { documents: saved.documents ?? 'auto', collections: saved.collections } : AUTO),
  }
  const change = (next: Partial<ComposerOptions>) => {
    setChosen((before) => ({ ...before, ...next }))
    if (next.model !== undefined) localStorage.setItem(MODEL_KEY, next.model)
    onChange?.(next)
  }
  return [options, change] as const
}

const readModel = () => localStorage.getItem(MODEL_KEY) ?? undefined
