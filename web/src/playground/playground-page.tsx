import { Alert, Button, Select, Skeleton } from '@mantine/core'
import { IconRestore, IconTerminal2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { modelsQuery } from '../api/queries.ts'
import type { Call } from '../api/types.ts'
import { callQuery } from '../calls/calls-query.ts'
import { Choice } from '../components/choice.tsx'
import { formatExactTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { CodePanel } from './code-panel.tsx'
import { EventsPanel } from './events-panel.tsx'
import classes from './playground.module.css'
import { EMPTY_START, findReplay, type Start } from './replay.ts'
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
  const { call } = route.useSearch()
  const [restarts, setRestarts] = useState(0)
  const bench = { restarts, onRestart: () => setRestarts(restarts + 1) }
  return call === undefined ? (
    <Workbench {...bench} />
  ) : (
    <ReplayedCall key={call} id={call} {...bench} />
  )
}

type BenchProps = {
  /** How often the user started over, which removes the button with the focus. */
  restarts: number
  onRestart: () => void
}

function ReplayedCall({ id, ...bench }: BenchProps & { id: string }) {
  const call = useQuery(callQuery(id))
  const { id: userId } = useUser()
  return (
    <Loaded query={call} skeleton={<Skeleton h={420} />}>
      {(call) => {
        const { start, isWhole } = findReplay(userId, call)
        const note = <ReplayNote call={call} isWhole={isWhole} />
        return <Workbench {...bench} start={start} note={note} />
      }}
    </Loaded>
  )
}

type WorkbenchProps = BenchProps & { start?: Start; note?: ReactNode }

function Workbench({ restarts, onRestart, start = EMPTY_START, note }: WorkbenchProps) {
  const { model: chosen, view = 'settings' } = route.useSearch()
  const navigate = route.useNavigate()
  const models = useQuery(modelsQuery)
  const model = chosen ?? start.model ?? models.data?.default_model ?? ''
  const playground = usePlayground(model, start)
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
        'Try a model, then copy the call as code. Calls count toward your allowance. We never store prompts or answers; this browser keeps your last requests until you sign out.',
      )}
      wide
      actions={
        (playground.messages.length > 0 || note) && (
          <Button
            variant="default"
            leftSection={<IconRestore size={18} aria-hidden />}
            disabled={playground.isRunning}
            onClick={() => {
              playground.restart()
              onRestart()
              set({ call: undefined, model })
            }}
          >
            {t('Start over')}
          </Button>
        )
      }
    >
      <div className={classes.grid}>
        <div className={classes.main}>
          {note}
          <ModelSelect model={model} onChange={(next) => set({ model: next })} />
          <Thread playground={playground} restarts={restarts} />
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

/** Says which parts of a replayed call are filled in. */
function ReplayNote({ call, isWhole }: { call: Call; isWhole: boolean }) {
  return (
    <Alert
      color="gray"
      icon={<IconTerminal2 size={20} aria-hidden />}
      title={t('Replay of the call of {0}', formatExactTime(call.at))}
    >
      {isWhole
        ? t('This browser kept your request. Send it again, or change it first.')
        : listGaps(call)}
    </Alert>
  )
}

function listGaps({ parameters }: Call): string {
  const gaps = [
    t('We never store prompts, so write the messages again.'),
    parameters === null
      ? t('Only the model of this call is known.')
      : t(
          'The model and the settings of the call are filled in. It had {0}.',
          plural(parameters.messages, 'message'),
        ),
    parameters?.tools &&
      t('The call had {0}. The playground sends none.', plural(parameters.tools, 'tool')),
  ]
  return gaps.filter(Boolean).join(' ')
}

type ModelSelectProps = { model: string; onChange: (model: string) => void }

/** The chat models that the user may call, by vendor, with the chosen one's prices. */
function ModelSelect({ model, onChange }: ModelSelectProps) {
  const { data } = useQuery(modelsQuery)
  const models = data?.models.filter(({ kind, available }) => kind === 'chat' && available) ?? []
  const current = models.find(({ id, provider }) => [id, `${provider}/${id}`].includes(model))
  const groups = (data?.providers ?? []).map(({ provider, label }) => ({
    group: label,
    items: [...new Set(models.filter((one) => one.provider === provider).map(({ id }) => id))],
  }))
  // A link may name a model that the list lacks.
  const listed = groups.filter(({ items }) => items.length > 0)
  const isListed = model === '' || current !== undefined
  return (
    <Select
      label={t('Model')}
      description={
        current &&
        t(
          '${0} in, ${1} out per million tokens',
          current.input_usd_per_million,
          current.output_usd_per_million,
        )
      }
      searchable
      allowDeselect={false}
      nothingFoundMessage={t('No models')}
      data={isListed ? listed : [{ group: t('From the link'), items: [model] }, ...listed]}
      value={current?.id ?? (model === '' ? null : model)}
      onChange={(next) => next !== null && onChange(next)}
    />
  )
}
