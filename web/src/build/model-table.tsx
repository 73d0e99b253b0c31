import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useState } from 'react'
import type { PlanModel } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { formatCompact, formatDollars } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import classes from '../shop/table.module.css'
import { listAbilities } from './model-filter.ts'

/** Routers list hundreds of models, most of which nobody calls. */
const SHOWN_MAX = 50

export function ModelTable({ models }: { models: readonly PlanModel[] }) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? models : models.slice(0, SHOWN_MAX)
  return (
    <>
      <ScrollX label={t('Models')}>
        <Table highlightOnHover className="numbers">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Model')}</Table.Th>
              <Table.Th visibleFrom="lg">{t('Abilities')}</Table.Th>
              <Table.Th visibleFrom="sm" ta="right">
                {t('Context')}
              </Table.Th>
              <Table.Th ta="right">{t('Input')}</Table.Th>
              <Table.Th visibleFrom="md" ta="right">
                {t('Cached input')}
              </Table.Th>
              <Table.Th ta="right">{t('Output')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('Plan')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((model) => (
              <Row key={`${model.provider}/${model.id}`} model={model} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollX>
      {shown.length < models.length && (
        <Button variant="light" mt="md" onClick={() => setIsWhole(true)}>
          {t('Show all')}
        </Button>
      )}
    </>
  )
}

function Row({ model }: { model: PlanModel }) {
  const abilities = listAbilities(model).map(({ label }) => label)
  const context = model.context_tokens === null ? '–' : formatCompact(model.context_tokens)
  const isChat = model.kind === 'chat'
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          <ModelName model={model} />
          <CopyIcon value={model.id} what={t('the name {0}', model.id)} />
          {model.default && <Badge color="pine">{t('Default')}</Badge>}
        </Group>
        <Text c="dimmed" size="sm">
          {model.provider_label}
          {!isChat && ` · ${KINDS[model.kind]}`}
          {model.routes.length > 0 && t(' · answers with {0}', model.routes.join(', '))}
        </Text>
        <Text c="dimmed" size="sm" hiddenFrom="lg">
          {abilities.join(', ')}
        </Text>
        <div className={classes.under}>
          {model.context_tokens !== null && t('{0} context · ', context)}
          <Plan model={model} />
        </div>
      </Table.Td>
      <Table.Td visibleFrom="lg" c="dimmed">
        {abilities.join(', ')}
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right" title={describeOutput(model)}>
        {context}
      </Table.Td>
      <Table.Td ta="right">
        <Price model={model} amount={model.input_usd_per_million} />
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right">
        {isChat ? <Price model={model} amount={model.cached_input_usd_per_million} /> : '–'}
      </Table.Td>
      <Table.Td ta="right">
        {isChat ? <Price model={model} amount={model.output_usd_per_million} /> : '–'}
      </Table.Td>
      <Table.Td visibleFrom="sm" className={classes.whole}>
        <Plan model={model} />
      </Table.Td>
    </Table.Tr>
  )
}

const KINDS = { chat: '', embedding: t('embeddings'), rerank: t('reranking') }

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
