import {
  Button,
  Collapse,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { modelsQuery } from '../api/queries.ts'
import { t } from '../language/text.ts'
import { type KeyForm, PERIODS, SCOPES, WINDOWS } from './key-settings.ts'

const LIFETIMES = [
  { value: '0', label: t('Never') },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
]

type KeyFieldsProps = {
  form: UseFormReturnType<KeyForm>
  /** The current expiry in words; null for new keys and keys without one. */
  end: string | null
  isOpen: boolean
}

/** A key's name and expiry; a button shows its limits. */
export function KeyFields({ form, end, isOpen }: KeyFieldsProps) {
  const [opened, { toggle }] = useDisclosure(isOpen)
  return (
    <>
      <TextInput
        label={t('Name')}
        description={t('For example “laptop” or “website”')}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label={t('Expires')}
        data={
          end === null ? LIFETIMES : [{ value: '', label: t('No change: {0}', end) }, ...LIFETIMES]
        }
        {...form.getInputProps('days')}
      />
      <div>
        <Button
          variant="subtle"
          px="xs"
          aria-expanded={opened}
          onClick={toggle}
          rightSection={
            opened ? (
              <IconChevronUp size={18} aria-hidden />
            ) : (
              <IconChevronDown size={18} aria-hidden />
            )
          }
        >
          {t('Limits')}
        </Button>
        <Collapse expanded={opened} keepMounted={false}>
          <Limits form={form} />
        </Collapse>
      </div>
    </>
  )
}

function Limits({ form }: Pick<KeyFieldsProps, 'form'>) {
  const models = useQuery(modelsQuery)
  const { seconds } = form.values
  const isListed = WINDOWS.some(({ value }) => value === seconds)
  const windows = isListed
    ? WINDOWS
    : [...WINDOWS, { value: seconds, label: t('{0} seconds', seconds) }]
  return (
    <Stack pt="xs">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label={t('Spending limit')}
          description={t('In US dollars')}
          placeholder={t('No limit')}
          prefix="$"
          min={0.01}
          max={1_000_000}
          decimalScale={6}
          hideControls
          {...form.getInputProps('limitUsd')}
        />
        <Select
          label={t('Limit period')}
          description={t('In UTC')}
          data={PERIODS}
          {...form.getInputProps('period')}
        />
        <NumberInput
          label={t('Rate limit')}
          description={t('Calls')}
          placeholder={t('No limit')}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          thousandSeparator=" "
          hideControls
          {...form.getInputProps('requests')}
        />
        <Select
          label={t('Rate period')}
          description={t('Rolling window')}
          data={windows}
          {...form.getInputProps('seconds')}
        />
      </SimpleGrid>
      <NumberInput
        label={t('Tokens per month')}
        placeholder={t('No limit')}
        min={1}
        allowDecimal={false}
        thousandSeparator=" "
        hideControls
        {...form.getInputProps('monthlyTokens')}
      />
      <MultiSelect
        size="md"
        label={t('Permissions')}
        placeholder={form.values.scopes.length === 0 ? t('All permissions') : ''}
        data={SCOPES}
        clearable
        {...form.getInputProps('scopes')}
      />
      <TagsInput
        size="md"
        label={t('Models')}
        description={t('For example gpt-* or groq/*. Press Enter after each.')}
        placeholder={form.values.models.length === 0 ? t('All models in your plan') : ''}
        data={[...new Set(models.data?.models.map(({ id }) => id))]}
        limit={8}
        {...form.getInputProps('models')}
      />
      <TagsInput
        size="md"
        label={t('Allowed IPs')}
        description={t('For example 203.0.113.7 or 10.0.0.0/8. Press Enter after each.')}
        placeholder={form.values.addresses.length === 0 ? t('Any IP') : ''}
        {...form.getInputProps('addresses')}
      />
    </Stack>
  )
}
