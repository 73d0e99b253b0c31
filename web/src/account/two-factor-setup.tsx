import { Anchor, Button, Center, Group, Image, List, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { StartTotpResponse } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'

/** Two-factor is on only after the first correct code, so a wrong setup locks nobody out. */
export function TwoFactorSetup({
  start,
  onCodes,
}: {
  start: StartTotpResponse
  onCodes: (codes: string[]) => void
}) {
  const form = useForm({
    initialValues: { code: '' },
    validate: {
      code: (code) => (/^\d{6}$/.test(code.replace(/\s/g, '')) ? null : t('Enter six digits')),
    },
  })
  const confirm = useMutation({
    mutationFn: (code: string) =>
      api.post('/api/users/me/totp/confirm', { code: code.replace(/\s/g, '') }),
    onSuccess: ({ recovery_codes }) => onCodes(recovery_codes),
    onError: (problem) => setFieldErrors(form, problem),
  })

  return (
    <form onSubmit={form.onSubmit(({ code }) => confirm.mutate(code))}>
      <List
        type="ordered"
        spacing="md"
        styles={{ itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } }}
      >
        <List.Item>
          {rich(
            'Scan this with your authenticator app, or {0}.',
            <Anchor href={start.otpauth_url} underline="always">
              {t('open it on this device')}
            </Anchor>,
          )}
          {start.qr_code && (
            <Center my="sm">
              <Image
                src={start.qr_code}
                alt={t('QR code for your authenticator app')}
                w={200}
                h={200}
                radius="md"
                bg="white"
              />
            </Center>
          )}
          <Text c="dimmed" size="sm">
            {t('Or enter this key:')}
          </Text>
          <Group gap="xs" wrap="nowrap">
            <Text component="code" className="mono" style={{ overflowWrap: 'anywhere' }}>
              {start.secret}
            </Text>
            <CopyIcon value={start.secret} what={t('key')} />
          </Group>
        </List.Item>
        <List.Item>
          <Stack gap="sm">
            <TextInput
              label={t('Enter the code it shows')}
              inputMode="numeric"
              autoComplete="one-time-code"
              className="numbers"
              {...form.getInputProps('code')}
            />
            <FormProblem problem={confirm.error} fields={['code']} />
          </Stack>
        </List.Item>
      </List>
      <Group justify="flex-end" mt="lg">
        <Button type="submit" loading={confirm.isPending}>
          {t('Turn on')}
        </Button>
      </Group>
    </form>
  )
}
