import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readTrunks } from '../../../../src/carriers/sip/trunks.ts';

const page = readFileSync(new URL('../../../../../../docs/connecting-a-trunk.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);

describe('the examples of trunks in the documentation', () => {
  it.each(examples.map((text) => [/- name: (\S+)/.exec(text)?.[1], text]))(
    'take %s as it stands',
    (_, text = '') => {
      const { trunks, sip } = parse(text) as { trunks: unknown; sip?: unknown };
      expect(readTrunks({ trunks, sip: sip ?? { bind: '192.0.2.1' } }).trunks).toHaveLength(1);
    },
  );
});
