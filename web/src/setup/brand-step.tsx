import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fieldErrors } from '../api/problem.ts'
import type { BrandSettings } from '../api/types.ts'
import { describeErrors, type FieldName, formatFields, readFields } from '../brand/brand-fields.ts'
import { brandQuery, saveBrand } from '../brand/brand-query.ts'
import { LogoField, NameField, PrimaryField } from '../brand/brand-sections.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { Panel } from '../shop/facts.tsx'

/** The fields of the brand that a new service needs first. */
export function BrandStep() {
  const settings = useQuery(brandQuery)
  const isOwn = settings.data !== undefined && settings.data.source !== 'default'
  return (
    <Panel
      title={t('Brand')}
      aside={<Badge color={isOwn ? 'pine' : 'gray'}>{isOwn ? t('Your own') : t('Default')}</Badge>}
    >
      <Loaded query={settings} skeleton={<Skeleton h={200} />}>
        {(data) =>
          data.source === 'file' ? (
            <Text size="sm">
              {rich('The file {0} has the brand. Change it there.', <code>{data.file}</code>)}
            </Text>
          ) : (
            <BrandForm settings={data} />
          )
        }
      </Loaded>
    </Panel>
  )
}

function BrandForm({ settings }: { settings: BrandSettings }) {
  const [fields, setFields] = useState(formatFields(settings.form))
  const save = useMutation({ mutationFn: () => saveBrand(readFields(fields)) })
  const errors = describeErrors(fields, fieldErrors(save.error))
  const set = (name: FieldName, value: string) =>
    setFields((before) => ({ ...before, [name]: value }))
  const shown = { fields, set, errors, defaultName: settings.default_name }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form aria-label={t('Brand')} onSubmit={submit} noValidate>
      <Stack gap="sm">
        <NameField {...shown} />
        <PrimaryField {...shown} />
        <LogoField {...shown} />
        <FormProblem problem={save.error} fields={['name', 'colours.primary', 'logo.light']} />
        <Group gap="sm">
          <Button type="submit" loading={save.isPending}>
            {t('Save brand')}
          </Button>
          <LinkButton to="/run/brand" variant="default">
            {t('All fields and preview')}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  )
}
