import { Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { UsageBudget } from '@trunkcall/contract';
import { useState } from 'react';
import { ask } from '../api.ts';
import { Failure } from '../parts/page.tsx';
import { Part } from '../parts/section.tsx';
import { useAccount, useMay } from '../session.tsx';
import { show, text } from '../text.ts';

const { usage: words } = text;

/** How far the month has come by the budget, and the form for whoever may set it. */
export function Budget({ budget }: { readonly budget: UsageBudget }) {
  const mayWrite = useMay('budget.write');
  return (
    <Part title={words.budget}>
      <Stack gap="sm">
        <BudgetState budget={budget} />
        {/* Begins anew with another value, such as that of somebody else. */}
        {mayWrite && <BudgetForm key={budget.monthly} monthly={budget.monthly} />}
      </Stack>
    </Part>
  );
}

function BudgetState({
  budget: { monthly, used, percent, reached, carrier_unknown },
}: {
  readonly budget: UsageBudget;
}) {
  if (monthly === null || percent === null) return <Text c="dimmed">{words.noBudget}</Text>;
  const colors = { 80: 'orange', 100: 'red' } as const;
  return (
    <>
      <Text size="sm">
        {words.budgetState(show.money(used), show.money(monthly), percent)}
        {carrier_unknown > 0 && ` (${words.unknownCount(carrier_unknown)})`}
      </Text>
      <Progress
        value={Math.min(100, percent)}
        color={reached === null ? 'blue' : colors[reached]}
        aria-label={words.budget}
      />
    </>
  );
}

function BudgetForm({ monthly }: { readonly monthly: string | null }) {
  const client = useQueryClient();
  const { id } = useAccount();
  const [value, setValue] = useState(monthly ?? '');
  const save = useMutation({
    mutationFn: (budget: string | null) =>
      ask('PUT', `/accounts/${id}/budget`, { json: { monthly_budget: budget } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['usage'] });
      await client.invalidateQueries({ queryKey: ['overview'] });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(value.trim());
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={words.budgetAmount}
          description={words.budgetHint}
          inputMode="decimal"
          placeholder="250.00"
          maxLength={16}
          required
          maw={360}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <Group gap="xs">
          <Button type="submit" loading={save.isPending}>
            {text.common.save}
          </Button>
          {monthly !== null && (
            <Button variant="default" loading={save.isPending} onClick={() => save.mutate(null)}>
              {words.remove}
            </Button>
          )}
        </Group>
        {save.error !== null && <Failure error={save.error} />}
      </Stack>
    </form>
  );
}
