import { Alert, Button, Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconFileCode } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fieldErrors } from '../api/problem.ts'
import type { BrandForm, BrandPreview, BrandSettings } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import classes from './brand.module.css'
import { describeErrors, type FieldName, formatFields, readFields } from './brand-fields.ts'
import { BrandPreviews } from './brand-preview.tsx'
import { brandQuery, previewQuery, saveBrand } from './brand-query.ts'
import {
  ColorSection,
  LinkSection,
  MailSection,
  NameSection,
  PictureSection,
} from './brand-sections.tsx'

const TYPING_MS = 300

export function BrandPage() {
  const settings = useQuery(brandQuery)
  return (
    <Page
      title={t('Brand')}
      lead={t(
        'The name, logo, colors and links that customers see in the app, the shop and emails.',
      )}
      wide
    >
      <Loaded query={settings} skeleton={<Skeleton h={480} />}>
        {(data) => <BrandEditor settings={data} />}
      </Loaded>
    </Page>
  )
}

/** The fields beside a preview, which follows what is typed. */
function BrandEditor({ settings }: { settings: BrandSettings }) {
  const [fields, setFields] = useState(formatFields(settings.form))
  const [typed] = useDebouncedValue(fields, TYPING_MS)
  const asked = readFields(typed)
  const preview = useQuery(previewQuery(asked))
  // The last preview stays while the service refuses what is typed.
  const [accepted, setAccepted] = useState<{ form: BrandForm; preview: BrandPreview } | null>(null)
  if (preview.data && preview.data !== accepted?.preview)
    setAccepted({ form: asked, preview: preview.data })
  const save = useMutation({ mutationFn: () => saveBrand(readFields(fields)) })
  const isFixed = settings.source === 'file'
  const errors = describeErrors(fields, fieldErrors(preview.error ?? save.error))
  const set = (name: FieldName, value: string) =>
    setFields((before) => ({ ...before, [name]: value }))
  const sections = { fields, set, errors, defaultName: settings.default_name }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <>
      {isFixed && (
        <Alert color="brass" mb="md" icon={<IconFileCode size={20} aria-hidden />}>
          {rich(
            'The file {0}, which {1} names, has the brand. Edit the file and restart the service, or remove the setting to edit the brand here.',
            <code>{settings.file}</code>,
            <code>BRAND</code>,
          )}
        </Alert>
      )}
      <div className={classes.columns}>
        <form onSubmit={submit} aria-label={t('Brand')} noValidate>
          <fieldset disabled={isFixed} className={classes.form}>
            <NameSection {...sections} />
            <PictureSection {...sections} />
            <ColorSection {...sections} />
            <LinkSection {...sections} />
            <MailSection {...sections} />
            <FormProblem problem={save.error} fields={Object.keys(errors)} />
            {!isFixed && (
              <Button type="submit" className={classes.save} loading={save.isPending}>
                {t('Save brand')}
              </Button>
            )}
          </fieldset>
        </form>
        <section aria-label={t('Preview')} className={classes.preview}>
          {accepted ? (
            <BrandPreviews {...accepted} />
          ) : (
            <Loaded query={preview} skeleton={<Skeleton h={480} />}>
              {() => null}
            </Loaded>
          )}
        </section>
      </div>
    </>
  )
}
