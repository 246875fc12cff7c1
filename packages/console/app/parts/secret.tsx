import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { text } from '../text.ts';

/** Something that is shown once, to be copied. */
export function Secret({ about, value }: { readonly about: string; readonly value: string }) {
  return (
    <Alert variant="outline" color="blue" role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{about}</Text>
        <Code block className="secret break pre" w="100%">
          {value}
        </Code>
        <Copy value={value} />
      </Stack>
    </Alert>
  );
}

export function Copy({ value }: { readonly value: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={copy}>
            {copied ? text.common.copied : text.common.copy}
          </Button>
        </Group>
      )}
    </CopyButton>
  );
}
