import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.ts'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { allowanceQuery, usageQuery } from '../usage/usage-query.ts'
import { Allowance, DAYS } from './allowance.tsx'
import { Failures } from './failures.tsx'
import { NextSteps } from './next-steps.tsx'
import classes from './overview-page.module.css'
import { recentFailuresQuery } from './queries.ts'
import { RecentConversations } from './recent-conversations.tsx'
import { RecentFiles } from './recent-files.tsx'
import { useSteps } from './use-steps.ts'

const route = getRouteApi('/app/dashboard')

const PaymentConfirmation = lazyPart(
  () => import('./payment-confirmation.tsx'),
  'PaymentConfirmation',
)

/** What is the user's own: conversations, files, what is left of the plan, and what failed. */
export function OverviewPage() {
  const { success } = route.useSearch()
  const { full_name, entitlements } = useUser()
  const steps = useSteps()
  // One after the other, the panels would move what is already read.
  const isLoading =
    [
      useQuery(recentFailuresQuery),
      useQuery(allowanceQuery),
      useQuery(usageQuery(DAYS, 'day')),
    ].some(({ isFetched }) => !isFetched) || steps === null
  const first = full_name?.split(' ')[0]

  return (
    <Page title={first ? t('Hello, {0}', first) : t('Overview')} wide>
      {success && (
        <Suspense>
          <PaymentConfirmation />
        </Suspense>
      )}
      {steps?.some(({ done }) => !done) && <NextSteps steps={steps} />}
      <div className={classes.columns} aria-busy={isLoading}>
        {!isLoading && (
          <>
            <div className={classes.column}>
              {entitlements.includes('home') && <RecentConversations />}
              <Failures />
            </div>
            <div className={classes.column}>
              <Allowance />
              {entitlements.includes('library') && <RecentFiles />}
            </div>
          </>
        )}
      </div>
    </Page>
  )
}
