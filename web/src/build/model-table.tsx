import { Badge, Button, Group, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useState } from 'react'
import type { PlanModel } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { formatCompact, formatDollars } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { listAbilities } from './model-filter.ts'

/** Routers list hundreds of models, most of which nobody calls. */
const SHOWN_MAX = 50

export function ModelTable({ models }: { models: readonly PlanModel[] }) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? models : models.slice(0, SHOWN_MAX)
  return (
    <>
      <DataTable
        label={t('Models')}
        className="numbers"
        rows={shown}
        getKey={({ provider, id }) => `${provider}/${id}`}
        columns={COLUMNS}
      />
      {shown.length < models.length && (
        <Button variant="light" mt="md" onClick={() => setIsWhole(true)}>
          {t('Show all')}
        </Button>
      )}
    </>
  )
}

const COLUMNS: Column<PlanModel>[] = [
  { head: t('Model'), cell: (model) => <Model model={model} /> },
  { head: t('Abilities'), visibleFrom: 'lg', c: 'dimmed', cell: nameAbilities },
  {
    head: t('Context'),
    visibleFrom: 'sm',
    ta: 'right',
    title: describeOutput,
    cell: ({ context_tokens }) => (context_tokens === null ? '–' : formatCompact(context_tokens)),
  },
  {
    head: t('Input'),
    ta: 'right',
    cell: (model) => <Price model={model} amount={model.input_usd_per_million} />,
  },
  {
    head: t('Cached input'),
    visibleFrom: 'md',
    ta: 'right',
    cell: (model) =>
      model.kind === 'chat' ? (
        <Price model={model} amount={model.cached_input_usd_per_million} />
      ) : (
        '–'
      ),
  },
  {
    head: t('Output'),
    ta: 'right',
    cell: (model) =>
      model.kind === 'chat' ? <Price model={model} amount={model.output_usd_per_million} /> : '–',
  },
  {
    head: t('Plan'),
    visibleFrom: 'sm',
    breaks: 'nowhere',
    cell: (model) => <Plan model={model} />,
  },
]

const KINDS = { chat: '', embedding: t('embeddings'), rerank: t('reranking') }

function Model({ model }: { model: PlanModel }) {
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <ModelName model={model} />
        <CopyIcon value={model.id} what={t('the name {0}', model.id)} />
        {model.default && <Badge color="pine">{t('Default')}</Badge>}
      </Group>
      <Text c="dimmed" size="sm">
        {model.provider_label}
        {model.kind !== 'chat' && ` · ${KINDS[model.kind]}`}
        {model.routes.length > 0 && t(' · answers with {0}', model.routes.join(', '))}
      </Text>
      <Text c="dimmed" size="sm" hiddenFrom="lg">
        {nameAbilities(model)}
      </Text>
      <div className={classes.under}>
        {model.context_tokens !== null && t('{0} context · ', formatCompact(model.context_tokens))}
        <Plan model={model} />
      </div>
    </>
  )
}

function nameAbilities(model: PlanModel): string {
  return listAbilities(model)
    .map(({ label }) => label)
    .join(', ')
}

/** Opens the playground, where the user may call the model. */
function ModelName({ model: { id, provider, kind, routes, included } }: { model: PlanModel }) {
  const canCall = useUser().entitlements.includes('ai') && included && kind === 'chat'
  if (!canCall) return <span style={{ overflowWrap: 'anywhere' }}>{id}</span>
  return (
    <TextLink
      to="/playground"
      search={{ model: routes.length > 0 ? id : `${provider}/${id}` }}
      title={t('Open in playground')}
      style={{ overflowWrap: 'anywhere' }}
    >
      {id}
    </TextLink>
  )
}

function Price({ model, amount }: { model: PlanModel; amount: number }) {
  const isGuess = model.price_estimated
  return (
    <span title={isGuess ? t('No known price: the vendor’s highest price counts') : undefined}>
      {formatDollars(amount)}
      {isGuess && '*'}
    </span>
  )
}

function Plan({ model: { included, plans } }: { model: PlanModel }) {
  if (!included) return plans.join(', ')
  return (
    <>
      <IconCheck size={16} aria-hidden style={{ verticalAlign: '-3px' }} /> {t('Your plan')}
    </>
  )
}

function describeOutput({ output_tokens_max: max }: PlanModel): string | undefined {
  return max === null ? undefined : t('Up to {0} output tokens', formatCompact(max))
}
