import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import layout from '../shop/shop-layout.module.css'
import { AuditView } from './audit-view.tsx'
import { EmailLog } from './email-log.tsx'
import { EventsView } from './events-view.tsx'
import { JobsView } from './jobs-view.tsx'

const route = getRouteApi('/app/run/run/activity')

const VIEWS = [
  { view: undefined, label: t('Audit log') },
  { view: 'jobs', label: t('Jobs') },
  { view: 'emails', label: t('Emails') },
  { view: 'events', label: t('Payment events') },
] as const

/** Lists audit entries, jobs, emails and payment events. The address holds the view and its filters. */
export function ActivityPage() {
  const { view } = route.useSearch()
  return (
    <Page title={t('Activity')} lead={t('What happened, what waits and what failed.')} wide>
      <nav aria-label={t('Activity')} className={layout.sections}>
        {VIEWS.map((one) => (
          <Link
            key={one.label}
            to="/run/activity"
            search={{ view: one.view }}
            activeOptions={{ includeSearch: true, explicitUndefined: true }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {one.label}
          </Link>
        ))}
      </nav>
      {view === 'jobs' && <JobsView about="others" />}
      {view === 'emails' && (
        <>
          <JobsView about="emails" />
          <EmailLog />
        </>
      )}
      {view === 'events' && <EventsView />}
      {!VIEWS.some((one) => one.view !== undefined && one.view === view) && <AuditView />}
    </Page>
  )
}
