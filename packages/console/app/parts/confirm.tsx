import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { text } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './page.tsx';

/** Asks before something that can not be undone. */
export function Confirm({
  title,
  about,
  submit,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly about: string;
  readonly submit: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const work = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Dialog title={title} onClose={onClose}>
      <Stack>
        <Text>{about}</Text>
        {work.error !== null && <Failure error={work.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.common.cancel}
          </Button>
          <Button color="red" loading={work.isPending} onClick={() => work.mutate()}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
