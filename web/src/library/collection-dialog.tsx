import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import classes from './collection-dialog.module.css'
import { Dot } from './dot.tsx'
import type { Collection } from './files-query.ts'

const COLOURS: Collection['colour'][] = [
  'grey',
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
]

type CollectionDialogProps = {
  /** Undefined: creates one. */
  collection?: Collection
  onClose: () => void
}

export function CollectionDialog({ collection, onClose }: CollectionDialogProps) {
  const navigate = useNavigate()
  const [name, setName] = useState(collection?.name ?? '')
  const [colour, setColour] = useState(collection?.colour ?? 'green')
  const [instructions, setInstructions] = useState(collection?.instructions ?? '')
  const save = useMutation({
    mutationFn: () => {
      const body = { name: name.trim(), colour, instructions: instructions.trim() || null }
      return collection
        ? api.patch('/api/library/collections/{id}', body, { path: { id: collection.id } })
        : api.post('/api/library/collections', body)
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['documents'] })
      onClose()
      if (!collection) void navigate({ to: '/library', search: { collection: id } })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) save.mutate()
  }
  return (
    <Dialog title={collection ? t('Edit collection') : t('New collection')} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Name')}
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <fieldset className={classes.colours}>
            <legend>{t('Color')}</legend>
            {COLOURS.map((one) => (
              <label key={one} title={one}>
                <input
                  type="radio"
                  name="colour"
                  aria-label={one}
                  checked={colour === one}
                  onChange={() => setColour(one)}
                />
                <Dot colour={one} />
              </label>
            ))}
          </fieldset>
          <Textarea
            label={t('Instructions')}
            description={t('Optional. Conversations with this collection follow them.')}
            autosize
            minRows={3}
            maxRows={10}
            maxLength={20_000}
            value={instructions}
            onChange={(event) => setInstructions(event.currentTarget.value)}
          />
          <FormProblem problem={save.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('Cancel')}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!name.trim()}>
              {collection ? t('Save') : t('Create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
