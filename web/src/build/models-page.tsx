import { Checkbox, Group, Skeleton, Text } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { PlanModelList } from '../api/types.ts'
import { SearchField, SelectFilter, useSetSearch } from '../components/filters.tsx'
import { formatDay, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { ABILITIES, filterModels, ORDERS } from './model-filter.ts'
import { ModelTable } from './model-table.tsx'
import { planModelsQuery } from './queries.ts'

const route = getRouteApi('/app/models')

/** The models of all plans: prices, context, abilities, and which ones the user's plan includes. */
export function ModelsPage() {
  const models = useQuery(planModelsQuery)
  return (
    <Page
      title={t('Models and prices')}
      lead={t('Prices are in US dollars per million tokens. Use a model’s name in any client.')}
      wide
    >
      <Loaded query={models} skeleton={<Skeleton h={420} />}>
        {(data) => <Models data={data} />}
      </Loaded>
    </Page>
  )
}

function Models({ data: { models, prices_as_of } }: { data: PlanModelList }) {
  const found = filterModels(models, route.useSearch())
  return (
    <>
      <Filters vendors={[...new Map(models.map((one) => [one.provider, one.provider_label]))]} />
      {found.length === 0 ? (
        <Notice
          icon={IconSearch}
          title={models.length === 0 ? t('No models') : t('No models match')}
        >
          {models.length === 0
            ? t('No plan includes a model at the moment.')
            : t('Search by a part of the model’s or the vendor’s name.')}
        </Notice>
      ) : (
        <ModelTable models={found} />
      )}
      <Text c="dimmed" size="sm" mt="md" role="status">
        {t(
          '{0}. Prices as of {1}.',
          plural(found.length, 'model'),
          formatDay(`${prices_as_of}T12:00:00Z`),
        )}
      </Text>
    </>
  )
}

function Filters({ vendors }: { vendors: [name: string, label: string][] }) {
  const { mine } = route.useSearch()
  const setSearch = useSetSearch()
  return (
    <Group gap="sm" mb="md">
      <SearchField
        flex="1 1 14rem"
        aria-label={t('Search models')}
        placeholder={t('Model or vendor')}
      />
      <SelectFilter
        name="vendor"
        aria-label={t('Vendor')}
        placeholder={t('Any vendor')}
        w={{ base: '100%', xs: 170 }}
        data={vendors.map(([value, label]) => ({ value, label }))}
      />
      <SelectFilter
        name="can"
        aria-label={t('Ability')}
        placeholder={t('Any ability')}
        w={{ base: '100%', xs: 160 }}
        data={ABILITIES}
      />
      <SelectFilter
        name="order"
        aria-label={t('Order')}
        placeholder={t('By vendor')}
        w={{ base: '100%', xs: 170 }}
        data={ORDERS}
      />
      <Checkbox
        label={t('In my plan')}
        checked={mine !== undefined}
        onChange={({ currentTarget: { checked } }) => setSearch({ mine: checked || undefined })}
      />
    </Group>
  )
}
