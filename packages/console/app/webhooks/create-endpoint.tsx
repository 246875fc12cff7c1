import { Alert, Checkbox, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConsoleWebhookRequest, WebhookType, WebhookWithSecret } from '@trunkcall/contract';
import { useState } from 'react';
import { ask } from '../api.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Secret } from '../parts/secret.tsx';
import { useAccount } from '../session.tsx';
import { text } from '../text.ts';

const { webhooks: words } = text;

const allTypes = Object.keys(words.typeNames);

export function CreateEndpoint({ onClose }: { readonly onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [types, setTypes] = useState(allTypes);
  const [signed, setSigned] = useState(true);
  const create = useMutation({
    mutationFn: () => {
      const json: ConsoleWebhookRequest = {
        url: url.trim(),
        description: description.trim(),
        types: types as WebhookType[],
        signed,
      };
      return ask<WebhookWithSecret>('POST', `/accounts/${id}/webhooks`, { json });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
    // Nothing of the program keeps the secret once it was shown.
    gcTime: 0,
  });
  const made = create.data;
  return (
    <Dialog title={made === undefined ? words.create : words.created} onClose={onClose}>
      {made !== undefined ? (
        made.secret === null ? (
          <Alert variant="outline" role="status">
            {made.url}
          </Alert>
        ) : (
          <Secret about={words.secret} value={made.secret} />
        )
      ) : (
        <DialogForm work={create} submit={words.create} disabled={types.length === 0}>
          <TextInput
            label={words.url}
            description={words.urlHint}
            type="url"
            required
            maxLength={2_048}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <TextInput
            label={words.description}
            maxLength={200}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <Checkbox.Group label={words.types} value={types} onChange={setTypes}>
            <Stack gap="xs" mt="xs">
              {Object.entries(words.typeNames).map(([type, label]) => (
                <Checkbox key={type} value={type} label={label} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Checkbox
            label={words.signed}
            description={words.signedHint}
            checked={signed}
            onChange={(event) => setSigned(event.currentTarget.checked)}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
