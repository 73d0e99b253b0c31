import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useStable } from './parts/use-stable.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The page before this one is the same conversation without a source. */
    openedFromAnswer?: boolean
  }
}

/** The source in the address: `?source=ANSWER.PLACE`. Back closes it. */
export function useOpenSource() {
  const router = useRouter()
  const navigate = useNavigate()
  const { source, state } = useRouterState({
    select: ({ location }) => ({
      source: (location.search as { source?: string }).source,
      state: location.state,
    }),
    structuralSharing: true,
  })
  const go = (next: string | undefined, replace: boolean, openedFromAnswer: boolean) =>
    void navigate({
      to: '.',
      search: (search: object) => ({ ...search, source: next }),
      replace,
      resetScroll: false,
      state: { openedFromAnswer },
    } as never)

  const open = useStable((next: string) => {
    if (source === undefined) go(next, false, true)
    else go(next, true, state.openedFromAnswer === true)
  })
  const close = useStable(() => {
    if (state.openedFromAnswer) router.history.back()
    else go(undefined, true, false)
  })
  const move = useStable((next: string) => go(next, true, state.openedFromAnswer === true))
  return { source, open, move, close }
}
