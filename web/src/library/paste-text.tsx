import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { ApiForm } from '../components/api-form.tsx'
import { plural } from '../components/format.ts'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'

type PasteTextProps = { collections: string[]; onDone: () => void }

export function PasteText({ collections, onDone }: PasteTextProps) {
  const form = useForm({
    initialValues: { name: '', content: '' },
    validate: { content: (content) => (content.trim() ? null : t('Enter some text')) },
  })
  const ingest = async ({ name, content }: typeof form.values) => {
    const { chunks_created } = await api.post('/api/library/ingest/text', {
      content,
      collections,
      metadata: name.trim() ? { source: name.trim() } : {},
    })
    showToast(t('Added: searchable in {0}', plural(chunks_created, 'passage')))
    onDone()
    void queries.invalidateQueries({ queryKey: ['documents'] })
  }

  return (
    <ApiForm form={form} action={t('Add text')} onSend={ingest}>
      <TextInput
        label={t('Name')}
        description={t('Optional. Shown with answers that use this text.')}
        {...form.getInputProps('name')}
      />
      <Textarea
        label={t('Text')}
        autosize
        minRows={5}
        maxRows={16}
        {...form.getInputProps('content')}
      />
    </ApiForm>
  )
}
