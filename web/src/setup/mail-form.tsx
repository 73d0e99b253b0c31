import {
  NumberInput,
  PasswordInput,
  SegmentedControl,
  SimpleGrid,
  Text,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { SetupState } from '../api/types.ts'
import { BRAND } from '../components/brand.ts'
import { t } from '../language/text.ts'
import { RemoveSaved } from './remove-saved.tsx'
import { StepForm } from './step-form.tsx'

const EMPTY = {
  host: '',
  port: 587,
  encryption: 'starttls',
  user: '',
  password: '',
  name: '',
  from: '',
}

export function MailForm({ state: { mail } }: { state: SetupState }) {
  const [form, setForm] = useState(EMPTY)
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }))
  const save = () =>
    api.post('/api/admin/setup/mail', {
      host: form.host.trim(),
      port: form.port,
      encryption: form.encryption === 'tls' ? 'tls' : 'starttls',
      ...(form.user !== '' && { user: form.user }),
      ...(form.password !== '' && { password: form.password }),
      ...(form.name.trim() !== '' && { from_name: form.name.trim() }),
      from_address: form.from.trim(),
    })
  return (
    <StepForm
      name={t('Email')}
      action={t('Send test email and save')}
      done={t('Saved. Check your inbox for the test email')}
      save={save}
      aside={
        mail.is_saved && (
          <RemoveSaved what={t('mail server')} remove={() => api.delete('/api/admin/setup/mail')}>
            {t('Emails wait until there is another one.')}
          </RemoveSaved>
        )
      }
    >
      {mail.state === 'on' && (
        <Text size="sm">{t('Emails leave as {0} through {1}.', mail.sender, mail.host)}</Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} w="100%">
        <TextInput
          label={t('Mail server')}
          placeholder="smtp.example.com"
          required
          withAsterisk={false}
          value={form.host}
          onChange={(event) => set({ host: event.currentTarget.value })}
        />
        <NumberInput
          label={t('Port')}
          min={1}
          max={65_535}
          allowDecimal={false}
          hideControls
          required
          withAsterisk={false}
          value={form.port}
          onChange={(value) => set({ port: Number(value) })}
        />
        <TextInput
          label={t('User')}
          autoComplete="off"
          value={form.user}
          onChange={(event) => set({ user: event.currentTarget.value })}
        />
        <PasswordInput
          label={t('Password')}
          autoComplete="off"
          value={form.password}
          onChange={(event) => set({ password: event.currentTarget.value })}
        />
        <TextInput
          label={t('Sender name')}
          placeholder={BRAND}
          maxLength={60}
          value={form.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          type="email"
          label={t('From address')}
          required
          withAsterisk={false}
          value={form.from}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
      </SimpleGrid>
      <SegmentedControl
        aria-label={t('Encryption')}
        data={[
          { value: 'starttls', label: 'STARTTLS (587)' },
          { value: 'tls', label: 'TLS (465)' },
        ]}
        value={form.encryption}
        onChange={(encryption) => set({ encryption, port: encryption === 'tls' ? 465 : 587 })}
      />
    </StepForm>
  )
}
