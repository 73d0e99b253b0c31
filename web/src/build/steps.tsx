import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCheck, IconKey } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { FirstCall, WaitingForCall } from '../api-keys/first-call.tsx'
import { NewKey } from '../api-keys/new-key.tsx'
import { SnippetChoice } from '../api-keys/snippets.tsx'
import { t } from '../language/text.ts'
import { Panel } from '../overview/panel.tsx'
import classes from './steps.module.css'

type StepsProps = { hasKey: boolean; callingKey: string | undefined }

export function Steps({ hasKey, callingKey }: StepsProps) {
  const [opened, { open, close }] = useDisclosure(false)
  const [key, setKey] = useState<string>()
  const isDone = callingKey !== undefined
  return (
    <div className={classes.place}>
      <Panel
        title={t('Make your first call')}
        aside={t('{0} of 2 done', Number(hasKey) + Number(isDone))}
      >
        <ol className={classes.steps}>
          <Step name={t('Create an API key')} isDone={hasKey}>
            {!hasKey && (
              <Button leftSection={<IconKey size={18} aria-hidden />} onClick={open}>
                {t('Create key')}
              </Button>
            )}
          </Step>
          <Step name={t('Send a request')} isDone={isDone}>
            {callingKey !== undefined && <FirstCall keyId={callingKey} />}
            {hasKey && !isDone && (
              <>
                <SnippetChoice {...(key !== undefined && { apiKey: key })} />
                <WaitingForCall />
              </>
            )}
          </Step>
        </ol>
        <NewKey opened={opened} onClose={close} onCreated={setKey} />
      </Panel>
    </div>
  )
}

type StepProps = { name: string; isDone: boolean; children: ReactNode }

function Step({ name, isDone, children }: StepProps) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <span className={classes.mark} aria-hidden>
        {isDone && <IconCheck size={14} stroke={2.4} />}
      </span>
      <div className={classes.content}>
        <h3>
          {name}
          {isDone && <span className="visually-hidden">{t(', done')}</span>}
        </h3>
        {children}
      </div>
    </li>
  )
}
