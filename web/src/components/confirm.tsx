import { Box, Button, Group, Modal, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { FormProblem } from './form-problem.tsx'

type ConfirmProps = {
  opened: boolean
  onClose: () => void
  title: string
  children: ReactNode
  action: string
  /** Label of the button that cancels. */
  leave?: string
  onConfirm: () => Promise<unknown>
}

/** Confirms an action. Stays open with the error when the action fails. */
export function Confirm({
  opened,
  onClose,
  title,
  children,
  action,
  leave = 'Cancel',
  onConfirm,
}: ConfirmProps) {
  const close = () => {
    onClose()
    run.reset()
  }
  const run = useMutation({ mutationFn: onConfirm, onSuccess: close })
  // Keep the text while the dialog fades, because the page may have dropped its subject.
  const [words, setWords] = useState(children)
  if (opened && words !== children) setWords(children)

  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Text component="div">{words}</Text>
      {run.isError && (
        <Box mt="md">
          <FormProblem problem={run.error} />
        </Box>
      )}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          {leave}
        </Button>
        <Button color="red" loading={run.isPending} onClick={() => run.mutate()}>
          {action}
        </Button>
      </Group>
    </Modal>
  )
}
