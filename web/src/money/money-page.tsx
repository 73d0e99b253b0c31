import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import layout from '../shop/shop-layout.module.css'
import { InvoicesView } from './invoices-view.tsx'
import { MetricsView } from './metrics-view.tsx'
import { ChangesView, MovementsView } from './movement-views.tsx'
import { ProcessorView } from './processor-view.tsx'
import { UsageView } from './usage-view.tsx'
import { CallsView, DocumentsView } from './use-views.tsx'

const route = getRouteApi('/app/run/run/money')

const VIEWS = [
  { view: undefined, label: t('Metrics') },
  { view: 'movements', label: t('Payments') },
  { view: 'invoices', label: t('Invoices') },
  { view: 'changes', label: t('Subscriptions') },
  { view: 'usage', label: t('Usage') },
  { view: 'calls', label: t('Calls') },
  { view: 'documents', label: t('Documents') },
  { view: 'processor', label: t('Processor') },
] as const

/** Everything about money; the address holds the view and its filters. */
export function MoneyPage() {
  const { view } = route.useSearch()
  return (
    <Page title={t('Money')} lead={t('Days are UTC. Currencies are never added together.')} wide>
      <nav aria-label={t('Money')} className={layout.sections}>
        {VIEWS.map((one) => (
          <Link
            key={one.label}
            to="/run/money"
            search={{ view: one.view }}
            activeOptions={{ includeSearch: true, explicitUndefined: true }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {one.label}
          </Link>
        ))}
        <Link to="/shop/disputes">{t('Disputes')}</Link>
      </nav>
      {!VIEWS.some((one) => one.view !== undefined && one.view === view) && <MetricsView />}
      {view === 'movements' && <MovementsView />}
      {view === 'invoices' && <InvoicesView />}
      {view === 'changes' && <ChangesView />}
      {view === 'usage' && <UsageView />}
      {view === 'calls' && <CallsView />}
      {view === 'documents' && <DocumentsView />}
      {view === 'processor' && <ProcessorView />}
    </Page>
  )
}
