import { Button } from '@mantine/core'
import { IconRestore } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { modelsQuery } from '../api/queries.ts'
import { Choice } from '../components/choice.tsx'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { t } from '../language/text.ts'
import { CodePanel } from './code-panel.tsx'
import { EventsPanel } from './events-panel.tsx'
import { ModelSelect } from './model-select.tsx'
import classes from './playground.module.css'
import { SettingsPanel } from './settings-panel.tsx'
import { Thread } from './thread.tsx'
import { usePlayground } from './use-playground.ts'

const route = getRouteApi('/app/playground')

const VIEWS = [
  { value: 'settings', label: t('Settings') },
  { value: 'code', label: t('Code') },
  { value: 'events', label: t('Events') },
] as const

/** Sends requests to models as a program would, with the user's session instead of a key. */
export function PlaygroundPage() {
  return (
    <RequireEntitlement entitlement="ai" what={t('The playground')} page>
      <OpenPlayground />
    </RequireEntitlement>
  )
}

function OpenPlayground() {
  const { model: chosen, view = 'settings' } = route.useSearch()
  const navigate = route.useNavigate()
  const models = useQuery(modelsQuery)
  const model = chosen ?? models.data?.default_model ?? ''
  const playground = usePlayground(model)
  const set = (next: object) =>
    void navigate({
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })

  return (
    <Page
      title={t('Playground')}
      lead={t(
        'Try a model, then copy the call as code. Calls count toward your allowance. We never store prompts or answers.',
      )}
      wide
      actions={
        playground.messages.length > 0 && (
          <Button
            variant="default"
            leftSection={<IconRestore size={18} aria-hidden />}
            disabled={playground.isRunning}
            onClick={playground.restart}
          >
            {t('Start over')}
          </Button>
        )
      }
    >
      <div className={classes.grid}>
        <div className={classes.main}>
          <ModelSelect model={model} onChange={(next) => set({ model: next })} />
          <Thread playground={playground} />
        </div>
        <section className={classes.side} aria-label={t('Request')}>
          <Choice
            label={t('View')}
            value={view}
            choices={[...VIEWS]}
            onChange={(next) => set({ view: next === 'settings' ? undefined : next })}
          />
          {view === 'settings' && <SettingsPanel playground={playground} />}
          {view === 'code' && <CodePanel request={playground.request} />}
          {view === 'events' && <EventsPanel run={playground.run} />}
        </section>
      </div>
    </Page>
  )
}
