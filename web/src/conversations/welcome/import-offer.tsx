import { useMutation, useQuery } from '@tanstack/react-query'
import { formatProblem } from '../../api/problem.ts'
import { plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import { importConversations } from '../import.ts'
import {
  deleteBrowserConversations,
  exportBrowser,
  useBrowserConversations,
} from '../local/browser-export.ts'
import { keepingQuery } from '../queries.ts'
import classes from './welcome.module.css'

/** Offers once to move this browser’s conversations into the account. */
export function ImportOffer() {
  const user = useUser()
  const keeping = useQuery(keepingQuery).data?.keeping
  const count = useBrowserConversations(user.id)
  const move = useMutation({
    mutationFn: async () => {
      await importConversations(await exportBrowser(user.id))
      deleteBrowserConversations(user.id)
    },
  })
  if (keeping !== 'account' || count === 0) return null
  return (
    <section className={classes.privacy} aria-label={t('Conversations in this browser')}>
      <p role="status">
        {move.isError
          ? formatProblem(move.error)
          : t(
              'This browser keeps {0}. Move them into your account?',
              plural(count, 'conversation'),
            )}
      </p>
      <button type="button" disabled={move.isPending} onClick={() => move.mutate()}>
        {t('Move')}
      </button>
      <button type="button" onClick={() => deleteBrowserConversations(user.id)}>
        {t('Delete')}
      </button>
    </section>
  )
}
