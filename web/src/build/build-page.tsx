import { IconTerminal2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { LinkButton } from '../components/links.tsx'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { t } from '../language/text.ts'
import { Failures } from '../overview/failures.tsx'
import layout from '../overview/overview-page.module.css'
import { recentFailuresQuery } from '../overview/queries.ts'
import { useUser } from '../session/user.ts'
import { allowanceQuery, usageQuery } from '../usage/usage-query.ts'
import { CallsByDay } from './calls-by-day.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Numbers } from './numbers.tsx'
import { DAYS, durationsQuery } from './queries.ts'
import { TopModels } from './top-models.tsx'

/** The developer's overview: the way to the first call, then what calls did in the last days. */
export function BuildPage() {
  const has = useUser().entitlements
  return (
    <RequireEntitlement
      entitlement={has.includes('ai') ? 'ai' : 'api_keys'}
      what={t('The API')}
      page
    >
      <Page
        title={t('Overview')}
        lead={t('Your calls of the last {0} days. Days are in UTC.', DAYS)}
        wide
        actions={
          has.includes('ai') && (
            <LinkButton
              to="/playground"
              variant="default"
              leftSection={<IconTerminal2 size={18} aria-hidden />}
            >
              {t('Open playground')}
            </LinkButton>
          )
        }
      >
        {has.includes('api_keys') && has.includes('ai') && <FirstSteps />}
        <Activity />
      </Page>
    </RequireEntitlement>
  )
}

function Activity() {
  // One after the other, the panels would move what is already read.
  const isLoading = [
    useQuery(usageQuery(DAYS, 'day')),
    useQuery(usageQuery(DAYS, 'outcome')),
    useQuery(usageQuery(DAYS, 'model')),
    useQuery(durationsQuery(DAYS)),
    useQuery(allowanceQuery),
    useQuery(recentFailuresQuery),
  ].some(({ isFetched }) => !isFetched)
  if (isLoading) return <div aria-busy="true" />
  return (
    <>
      <Numbers />
      <div className={layout.columns}>
        <div className={layout.column}>
          <CallsByDay />
        </div>
        <div className={layout.column}>
          <TopModels />
          <Failures />
        </div>
      </div>
    </>
  )
}
