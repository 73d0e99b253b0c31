import { Avatar, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api } from '../api/client.ts'
import { queries, userQuery } from '../api/queries.ts'
import { ApiForm } from '../components/api-form.tsx'
import { showToast } from '../components/toasts.tsx'
import { LANGUAGES, language } from '../language/language.ts'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { Panel } from './panel.tsx'

export function ProfileForm() {
  const user = useUser()
  const form = useForm({
    initialValues: {
      full_name: user.full_name ?? '',
      avatar_url: user.avatar_url ?? '',
      locale: user.locale ?? language,
    },
    validate: {
      avatar_url: (url) =>
        url === '' || /^https:\/\/\S+$/.test(url)
          ? null
          : t('Enter a URL that starts with https://'),
    },
  })
  const save = async ({ full_name, avatar_url, locale }: typeof form.values) => {
    const saved = await api.patch('/api/users/me', {
      full_name: full_name.trim() || null,
      avatar_url: avatar_url.trim() || null,
      locale,
    })
    form.resetDirty()
    queries.setQueryData(userQuery.queryKey, (before) => before && { ...before, ...saved })
    showToast(t('Profile saved'))
  }

  return (
    <Panel title={t('Profile')}>
      <ApiForm form={form} action={t('Save')} disabled={!form.isDirty()} onSend={save}>
        <Group gap="lg" mt="md" align="flex-start" wrap="nowrap">
          <Avatar
            src={form.values.avatar_url || null}
            name={form.values.full_name || user.email}
            size={72}
            color="pine"
            alt=""
          />
          <Stack flex={1}>
            <TextInput label={t('Name')} autoComplete="name" {...form.getInputProps('full_name')} />
            <TextInput
              label={t('Picture')}
              description={t(
                'Image URL that starts with https://. Only images from Google and GitHub are shown.',
              )}
              type="url"
              {...form.getInputProps('avatar_url')}
            />
            <NativeSelect
              label={t('Language')}
              description={t('Of the app, the shop and emails')}
              data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('locale')}
            />
          </Stack>
        </Group>
      </ApiForm>
    </Panel>
  )
}
