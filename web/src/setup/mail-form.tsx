import { NumberInput, PasswordInput, SegmentedControl, SimpleGrid, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { StepForm } from './step-form.tsx'

const EMPTY = { host: '', port: 587, encryption: 'starttls', user: '', password: '', from: '' }

export function MailForm() {
  const [form, setForm] = useState(EMPTY)
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }))
  const save = () =>
    api.post('/api/admin/setup/mail', {
      host: form.host.trim(),
      port: form.port,
      encryption: form.encryption === 'tls' ? 'tls' : 'starttls',
      ...(form.user !== '' && { user: form.user }),
      ...(form.password !== '' && { password: form.password }),
      from_address: form.from.trim(),
    })
  return (
    <StepForm
      name="Email"
      action="Send test email and save"
      done="Saved. Check your inbox for the test email"
      save={save}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} w="100%">
        <TextInput
          label="Mail server"
          placeholder="smtp.example.com"
          required
          withAsterisk={false}
          value={form.host}
          onChange={(event) => set({ host: event.currentTarget.value })}
        />
        <NumberInput
          label="Port"
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
          label="User"
          autoComplete="off"
          value={form.user}
          onChange={(event) => set({ user: event.currentTarget.value })}
        />
        <PasswordInput
          label="Password"
          autoComplete="off"
          value={form.password}
          onChange={(event) => set({ password: event.currentTarget.value })}
        />
        <TextInput
          type="email"
          label="From address"
          required
          withAsterisk={false}
          value={form.from}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
      </SimpleGrid>
      <SegmentedControl
        aria-label="Encryption"
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
