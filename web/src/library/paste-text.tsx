import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { plural } from '../components/format.ts'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'

type PasteTextProps = { collections: string[]; onDone: () => void }

export function PasteText({ collections, onDone }: PasteTextProps) {
  const form = useForm({
    initialValues: { name: '', content: '' },
    validate: { content: (content) => (content.trim() ? null : t('Enter some text')) },
  })
  const ingest = useMutation({
    mutationFn: ({ name, content }: typeof form.values) =>
      api.post('/api/library/ingest/text', {
        content,
        collections,
        metadata: name.trim() ? { source: name.trim() } : {},
      }),
    onSuccess: ({ chunks_created }) => {
      showToast(t('Added: searchable in {0}', plural(chunks_created, 'passage')))
      onDone()
      void queries.invalidateQueries({ queryKey: ['documents'] })
    },
    onError: (problem) => setFieldErrors(form, problem),
  })

  return (
    <form onSubmit={form.onSubmit((values) => ingest.mutate(values))}>
      <Stack>
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
        <FormProblem problem={ingest.error} fields={Object.keys(form.values)} />
        <Group justify="flex-end">
          <Button type="submit" loading={ingest.isPending}>
            {t('Add text')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
