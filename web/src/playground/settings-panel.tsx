import { NumberInput, Select, SimpleGrid, Stack, Switch, Textarea } from '@mantine/core'
import { t } from '../language/text.ts'
import { EFFORTS } from './request.ts'
import type { Playground } from './use-playground.ts'

export function SettingsPanel({
  playground: { settings, change },
}: {
  playground: Pick<Playground, 'settings' | 'change'>
}) {
  return (
    <Stack>
      <Textarea
        label={t('System message')}
        placeholder={t('You are a helpful assistant.')}
        autosize
        minRows={3}
        maxRows={12}
        value={settings.system}
        onChange={(event) => change({ system: event.currentTarget.value })}
      />
      <SimpleGrid cols={2}>
        <NumberInput
          label={t('Temperature')}
          placeholder={t('Default')}
          min={0}
          max={2}
          step={0.1}
          value={settings.temperature ?? ''}
          onChange={(value) => change({ temperature: readNumber(value) })}
        />
        <NumberInput
          label={t('Top P')}
          placeholder={t('Default')}
          min={0}
          max={1}
          step={0.05}
          value={settings.topP ?? ''}
          onChange={(value) => change({ topP: readNumber(value) })}
        />
        <NumberInput
          label={t('Max tokens')}
          placeholder={t('Default')}
          min={1}
          step={100}
          allowDecimal={false}
          value={settings.maxTokens ?? ''}
          onChange={(value) => change({ maxTokens: readNumber(value) })}
        />
        <Select
          label={t('Reasoning effort')}
          placeholder={t('Default')}
          clearable
          data={[...EFFORTS]}
          value={settings.effort}
          onChange={(effort) => change({ effort })}
        />
      </SimpleGrid>
      <Switch
        label={t('Stream the answer')}
        checked={settings.streams}
        onChange={(event) => change({ streams: event.currentTarget.checked })}
      />
    </Stack>
  )
}

/** Empty fields are texts. */
function readNumber(value: string | number): number | null {
  return typeof value === 'number' ? value : null
}
